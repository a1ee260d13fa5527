import AppLinks
import Testing

@Suite struct RetrievalLintTests {
    private static let url = "https://example.com/.well-known/apple-app-site-association"

    private func codes(
        url: String = url,
        status: Int = 200,
        contentType: String? = "application/json",
        location: String? = nil
    ) throws -> [FindingCode] {
        let bytes = try AssociationFile(apps: [AppIdentifier("ABCDE12345.com.example.app")]).bytes
        let retrieval = Retrieval(url: url, status: status, contentType: contentType, location: location, bytes: bytes)
        let findings = AssociationLint.findings(in: retrieval)
        #expect(findings.allSatisfy { $0.message.hasSuffix(".") })
        return findings.map(\.code)
    }

    @Test(
        "A file served by Apple's rules has no findings",
        arguments: ["application/json", "application/json; charset=utf-8", "Application/JSON"]
    )
    func good(contentType: String) throws {
        #expect(try codes(contentType: contentType).isEmpty)
    }

    @Test("Reports a redirect with its target, without validating its body", arguments: [301, 302, 307, 308])
    func redirect(status: Int) throws {
        #expect(try codes(status: status, contentType: "text/html", location: "https://www.example.com/") == [.redirect])
        let retrieval = Retrieval(
            url: Self.url,
            status: status,
            contentType: nil,
            location: "https://www.example.com/x",
            bytes: []
        )
        #expect(AssociationLint.findings(in: retrieval).first?.message.contains("https://www.example.com/x") == true)
    }

    @Test("Reports a response without the file", arguments: [404, 403, 500, 0])
    func status(status: Int) throws {
        #expect(try codes(status: status, contentType: "text/html") == [.status])
    }

    @Test(
        "Reports the wrong media type",
        arguments: ["text/html", "application/octet-stream", "application/pkcs7-mime", "", nil]
    )
    func contentType(contentType: String?) throws {
        #expect(try codes(contentType: contentType) == [.contentType])
    }

    @Test(
        "Reports an address that Apple does not request",
        arguments: [
            ("http://example.com/.well-known/apple-app-site-association", FindingCode.notHTTPS),
            ("https://example.com:8443/.well-known/apple-app-site-association", .port),
            ("https://example.com/apple-app-site-association", .otherPath),
            ("https://example.com/aasa.json", .otherPath),
        ]
    )
    func address(url: String, code: FindingCode) throws {
        #expect(try codes(url: url) == [code])
    }

    @Test("Accepts port 443 in the address, because it is the port of https")
    func usualPort() throws {
        #expect(try codes(url: "https://example.com:443/.well-known/apple-app-site-association").isEmpty)
    }

    @Test("Reports a truncated file as longer than its bytes, without validating them")
    func truncated() {
        let retrieval = Retrieval(
            url: Self.url,
            status: 200,
            contentType: "application/json",
            location: nil,
            bytes: [UInt8](repeating: 0x20, count: 1_048_576),
            isTruncated: true
        )
        let findings = AssociationLint.findings(in: retrieval)
        #expect(findings.map(\.code) == [.tooLarge])
        #expect(findings.first?.message.hasPrefix("The file has more than 1048576 bytes") == true)
    }

    @Test("The domain of a retrieval is the requested host")
    func domain() {
        let at = { Retrieval(url: $0, status: 200, contentType: nil, location: nil, bytes: []).domain }
        #expect(at("https://ID.example.com:8443/x") == "id.example.com")
        #expect(at("file.json") == nil)
    }
}
