import AppLinks
import Testing

@Suite struct AssetLinksTests {
    private static let print = (0..<32).map { _ in "1F" }.joined(separator: ":")

    @Test("The file delegates links and passwords to the app, byte for byte")
    func golden() throws {
        let file = try AssetLinks(package: AndroidPackage("com.example.app"), fingerprints: [CertificateFingerprint(Self.print)])
        let expected =
            #"[{"relation":["delegate_permission/common.handle_all_urls","delegate_permission/common.get_login_creds"],"#
            + #""target":{"namespace":"android_app","package_name":"com.example.app","sha256_cert_fingerprints":["\#(Self.print)"]}}]"#
        #expect(String(decoding: file.bytes, as: UTF8.self) == expected)
    }

    @Test(
        "Writes a fingerprint in the form that Android compares",
        arguments: [
            print, print.lowercased(), String(repeating: "1f", count: 32), String(repeating: "1F", count: 32),
        ]
    )
    func fingerprint(text: String) throws {
        #expect(try CertificateFingerprint(text).description == Self.print)
    }

    @Test(
        "Refuses a text that is not a SHA-256 fingerprint",
        arguments: [
            "", "1F", String(repeating: "1F", count: 20), print + ":1F", String(repeating: "1G", count: 32),
            print.replacing("1F:1F", with: "1F1:F"),
            " " + print,
        ]
    )
    func badFingerprint(text: String) {
        #expect(throws: AppLinksError(code: .badFingerprint, message: "")) { try CertificateFingerprint(text) }
    }

    @Test(
        "Refuses a text that is not a package name",
        arguments: ["", "app", "com.", ".com", "com.1app", "com.ex-ample", "com..app", "com.exämple"]
    )
    func badPackage(text: String) {
        #expect(throws: AppLinksError(code: .badPackage, message: "")) { try AndroidPackage(text) }
    }

    @Test("Refuses a file without a certificate")
    func noFingerprints() throws {
        let package = try AndroidPackage("com.example.app")
        #expect(throws: AppLinksError(code: .noFingerprints, message: "")) { try AssetLinks(package: package, fingerprints: []) }
    }
}
