import AppLinks
import Testing

@Suite struct AppIdentifierTests {
    @Test(
        "An identifier is a prefix and a bundle identifier",
        arguments: ["ABCDE12345.com.example.app", "9JA89QQLNQ.com.apple.wwdc-Debug", "ABCDE12345.app"]
    )
    func good(text: String) throws {
        let app = try AppIdentifier(text)
        #expect(app.description == text)
        #expect(app.prefix.count == 10)
    }

    @Test(
        "Requires a prefix of ten capital letters and digits",
        arguments: [
            "", ".com.example.app", "com.example.app", "ABCDE1234.com.example.app", "ABCDE123456.com.example.app",
            "abcde12345.com.example.app",
            "ABCDE1234É.com.example.app", " ABCDE12345.com.example.app",
        ]
    )
    func badPrefix(text: String) {
        #expect(throws: AppLinksError(code: .badAppPrefix, message: "")) { try AppIdentifier(text) }
    }

    @Test(
        "Requires a bundle identifier of letters, digits, hyphens and single periods",
        arguments: [
            "ABCDE12345", "ABCDE12345.", "ABCDE12345.com..app", "ABCDE12345.com.example.", "ABCDE12345.com.example.*",
            "ABCDE12345.com.my_app",
            "ABCDE12345.com.exämple", "ABCDE12345.com.example.app ",
        ]
    )
    func badBundle(text: String) {
        #expect(throws: AppLinksError(code: .badBundleID, message: "")) { try AppIdentifier(text) }
    }

    @Test("The error names the text and the expected form")
    func message() {
        #expect {
            try AppIdentifier("com.example.app")
        } throws: { error in
            "\(error)".contains("com.example.app") && "\(error)".contains("ABCDE12345.com.example.app")
        }
    }
}
