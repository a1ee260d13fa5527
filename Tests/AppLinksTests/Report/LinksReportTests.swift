import AppLinks
import ErrorContract
import StrictJSON
import Testing

@Suite struct LinksReportTests {
    private static let url = "https://example.com/.well-known/apple-app-site-association"

    private func report(_ bytes: [UInt8], status: Int = 200, links: [String] = []) -> LinksReport {
        let retrieval = Retrieval(url: Self.url, status: status, contentType: "application/json", location: nil, bytes: bytes)
        return LinksReport(retrieval, links: links)
    }

    private func ownFile() throws -> [UInt8] {
        try AssociationFile(apps: [AppIdentifier("ABCDE12345.com.example.app")]).bytes
    }

    @Test("A valid file with links that open gives a short report without problems")
    func good() throws {
        let report = try report(ownFile(), links: ["https://example.com/reset-password?token=abc"])
        #expect(report.isGood)
        #expect(
            report.text == """
                https://example.com/.well-known/apple-app-site-association
                  no findings

                opens     https://example.com/reset-password?token=abc
                  ABCDE12345.com.example.app by details[0], component 0

                """
        )
    }

    @Test("Errors precede warnings, and links state why they stay in the browser")
    func bad() {
        let file = """
            {"applinks":{"apps":[],"details":[{"appIDs":["app"],"components":[
            {"/":"/help/*","exclude":true,"comment":"web only"},{"/":"/r","?":{"token":"?*"}}]}]},"webcredentials":{"apps":["app"]}}
            """
        let links = ["https://example.com/help/1", "https://example.com/r", "http://example.com/r", "https://example.com/x#f"]
        let report = LinksReport(file: "aasa.json", bytes: Array(file.utf8), links: links)
        #expect(!report.isGood)
        #expect(report.findings.map(\.severity) == [.error, .error, .warning])
        #expect(
            report.text == """
                aasa.json
                  2 errors, 1 warning

                error  malformed_app  webcredentials.apps[0]
                  "app" must begin with a prefix of ten capital letters and digits, as in ABCDE12345.com.example.app.

                error  malformed_app  applinks.details[0].appIDs[0]
                  "app" must begin with a prefix of ten capital letters and digits, as in ABCDE12345.com.example.app.

                warning  leftover_apps  applinks.apps
                  iOS 13 and later don't need apps; remove it.

                excluded  https://example.com/help/1
                  stays in the browser by details[0], component 0 (web only)

                unmatched https://example.com/r
                  stays in the browser, no component matches
                  details[0], component 0: the path differs
                  details[0], component 1: the query item token differs or is missing

                refused   http://example.com/r
                  The link is http; make it https.

                unmatched https://example.com/x#f
                  stays in the browser, no component matches
                  details[0], component 0: the path differs
                  details[0], component 1: the path differs

                """
        )
    }

    @Test("The JSON has findings and links, and can be decoded")
    func json() throws {
        let links = ["https://example.com/reset-password#token=a", "https://example.com/", "https://www.example.com/"]
        let report = try report(ownFile(), links: links)
        let misses = (0..<2 * AssociationFile.linkNames.count).map { #"{"details":0,"component":\#($0),"key":"/"}"# }
        let expected =
            #"{"source":"\#(Self.url)","ok":false,"findings":[],"links":["#
            + #"{"link":"\#(links[0])","outcome":"opens","apps":["ABCDE12345.com.example.app"],"details":0,"component":1,"comment":null},"#
            + #"{"link":"\#(links[1])","outcome":"unmatched","misses":[\#(misses.joined(separator: ","))]},{"link":"\#(links[2])","outcome":"refused","code":"other_host","#
            + #""message":"The host is www.example.com, the file is that of example.com; every host needs its own file."}]}"#
        let bytes = report.json.encoded()
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
        #expect(try JSONParser().parse(bytes) == report.json)
    }

    @Test("A finding in JSON has its severity, code, place and sentence")
    func jsonFinding() {
        let report = LinksReport(file: "aasa.json", bytes: Array("{}".utf8))
        let finding = report.json.objectValue?["findings"]?.arrayValue?.first?.objectValue
        #expect(finding?["severity"] == "error")
        #expect(finding?["code"] == "missing_applinks")
        #expect(finding?["place"] == "")
        #expect(finding?["message"]?.stringValue?.isEmpty == false)
    }

    @Test("Without a file, no link has a result", arguments: [301, 404])
    func noFile(status: Int) throws {
        let report = try report(ownFile(), status: status, links: ["https://example.com/reset-password?token=abc"])
        guard case .refused(let refusal) = report.matches.first?.outcome else {
            Issue.record("the link is answered")
            return
        }
        #expect(refusal.code == .unreadableFile)
        #expect(!report.isGood)
    }

    @Test("Warnings alone leave a report valid")
    func warnings() throws {
        let file = #"{"applinks":{"details":[{"appID":"ABCDE12345.com.example.app","paths":["*"]}]}}"#
        let report = report(Array(file.utf8))
        #expect(report.findings.map(\.code) == [.oldFormat, .missingWebCredentials])
        #expect(report.isGood)
    }

    @Test("Neither file nor link can add control characters to the text")
    func hostileText() {
        let file =
            #"{"applinks":{"details":[{"appIDs":["\u001b[2J\u202e"],"\u0007x":1,"components":[{"comment":"\u001b]0;x\n\u2028ok"}]}]}}"#
        let report = LinksReport(file: "a\u{1B}[31m", bytes: Array(file.utf8), links: ["https://a.test/\u{1B}[0m\r\nopens"])
        let scalars = report.text.unicodeScalars
        let hidden: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator]
        #expect(scalars.allSatisfy { $0 == "\n" || !hidden.contains($0.properties.generalCategory) })
        #expect(!report.text.contains("\nopens\n"))
    }

    @Test("Truncates a long list in the text, but not in the JSON")
    func longList() {
        let keys = (0..<200).map { #""k\#($0)":1"# }.joined(separator: ",")
        let report = LinksReport(file: "aasa.json", bytes: Array("{\(keys)}".utf8))
        #expect(report.findings.count == 201)
        #expect(report.text.contains("… and 151 more findings"))
        #expect(report.json.objectValue?["findings"]?.arrayValue?.count == 201)
    }
}
