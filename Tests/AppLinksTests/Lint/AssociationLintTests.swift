import AppLinks
import Testing

/// A file with one fault, and the expected finding.
struct LintCase: Sendable, CustomTestStringConvertible {
    let code: FindingCode
    let severity: AssociationFinding.Severity
    let place: String
    let file: String

    init(_ severity: AssociationFinding.Severity, _ code: FindingCode, _ place: String, _ file: String) {
        self.code = code
        self.severity = severity
        self.place = place
        self.file = file
    }

    /// A file with these `details`, and credentials for the app.
    init(_ severity: AssociationFinding.Severity, _ code: FindingCode, _ place: String, details: String, beside: String = "") {
        let applinks = #""applinks":{\#(beside.isEmpty ? "" : beside + ",")"details":\#(details)}"#
        self.init(severity, code, place, "{\(applinks),\(Self.credentials)}")
    }

    static let credentials = #""webcredentials":{"apps":["ABCDE12345.com.example.app"]}"#

    var testDescription: String { "\(code.rawValue) at \(place)" }
}

@Suite struct AssociationLintTests {
    private static let app = #""appIDs":["ABCDE12345.com.example.app"]"#

    private func check(_ expected: LintCase) {
        let findings = AssociationLint.findings(in: Array(expected.file.utf8))
        let found = findings.first { $0.code == expected.code && $0.place == expected.place }
        #expect(found?.severity == expected.severity, "\(findings)")
        #expect(found?.message.hasSuffix(".") == true)
        #expect(findings.count == 1, "\(findings.map(\.code.rawValue))")
    }

    @Test(
        "Reports invalid JSON with its position",
        arguments: [
            LintCase(.error, .notJSON, "line 1, column 1", ""),
            LintCase(.error, .notJSON, "line 2, column 3", "{\n  applinks: {}}"),
            LintCase(.error, .notJSON, "line 1, column 1", "<html></html>"),
            LintCase(.error, .wrongType, "", "[]"),
        ]
    )
    func text(expected: LintCase) {
        check(expected)
    }

    @Test("Distinguishes a file signed for iOS 8 from invalid JSON")
    func signed() {
        #expect(AssociationLint.findings(in: [0x30, 0x82, 0x01, 0x00]).map(\.code) == [.signed])
    }

    @Test("Reports a byte order mark and a size over 128 KB in an otherwise valid file")
    func bytes() throws {
        let good = try AssociationFile(apps: [AppIdentifier("ABCDE12345.com.example.app")]).bytes
        #expect(AssociationLint.findings(in: [0xEF, 0xBB, 0xBF] + good).map(\.code) == [.byteOrderMark])
        let spaces = [UInt8](repeating: 0x20, count: 128 * 1024 - good.count)
        #expect(AssociationLint.findings(in: good + spaces).isEmpty)
        #expect(AssociationLint.findings(in: good + spaces + [0x20]).map(\.code) == [.tooLarge])
    }

    @Test("Reports a duplicate key and still validates the rest of the file")
    func duplicateKey() {
        let file = #"{"applinks":{},"applinks":{"details":[]},\#(LintCase.credentials)}"#
        #expect(AssociationLint.findings(in: Array(file.utf8)).map(\.code) == [.duplicateKey, .missingDetails])
    }

    @Test(
        "Reports missing required members",
        arguments: [
            LintCase(.error, .missingAppLinks, "", "{\(LintCase.credentials)}"),
            LintCase(.error, .missingDetails, "applinks.details", #"{"applinks":{},\#(LintCase.credentials)}"#),
            LintCase(.error, .missingDetails, "applinks.details", details: "[]"),
            LintCase(.error, .wrongType, "applinks", #"{"applinks":[],\#(LintCase.credentials)}"#),
            LintCase(.error, .wrongType, "applinks.details", details: "7"),
            LintCase(.error, .wrongType, "applinks.details[0]", details: "[7]"),
            LintCase(.error, .missingApp, "applinks.details[0]", details: #"[{"components":[{}]}]"#),
            LintCase(.error, .missingApp, "applinks.details[0].appIDs", details: #"[{"appIDs":[],"components":[{}]}]"#),
            LintCase(.error, .missingComponents, "applinks.details[0]", details: "[{\(app)}]"),
            LintCase(.error, .missingComponents, "applinks.details[0]", details: #"[{\#(app),"components":[]}]"#),
            LintCase(
                .warning,
                .excludeOnly,
                "applinks.details[0]",
                details: #"[{\#(app),"components":[{"/":"/a","exclude":true}]}]"#
            ),
            LintCase(.warning, .leftoverApps, "applinks.apps", details: #"[{\#(app),"components":[{}]}]"#, beside: #""apps":[]"#),
        ]
    )
    func structure(expected: LintCase) {
        check(expected)
    }

    @Test(
        "Reports old and mixed formats",
        arguments: [
            LintCase(
                .warning,
                .oldFormat,
                "applinks.details",
                details: #"[{"appID":"ABCDE12345.com.example.app","paths":["*"]}]"#
            ),
            LintCase(.warning, .oldFormat, "applinks.details", details: #"{"ABCDE12345.com.example.app":{"paths":["*"]}}"#),
            LintCase(.error, .mixedFormats, "applinks.details", details: #"[{\#(app),"components":[{}],"paths":["*"]}]"#),
            LintCase(
                .error,
                .mixedFormats,
                "applinks.details[0]",
                details: #"[{\#(app),"appID":"ABCDE12345.com.example.app","components":[{}]}]"#
            ),
        ]
    )
    func formats(expected: LintCase) {
        check(expected)
    }

    @Test("Reports appIDs with paths as both old and mixed")
    func appIDsWithPaths() {
        let file = #"{"applinks":{"details":[{\#(Self.app),"paths":["/a"]}]},\#(LintCase.credentials)}"#
        #expect(AssociationLint.findings(in: Array(file.utf8)).map(\.code) == [.mixedFormats, .oldFormat])
    }

    @Test(
        "Validates a component's keys and types",
        arguments: [
            LintCase(.error, .wrongType, "applinks.details[0].components[0]", details: #"[{\#(app),"components":["/x"]}]"#),
            LintCase(
                .error,
                .wrongType,
                "applinks.details[0].components[0]./",
                details: #"[{\#(app),"components":[{"/":["/x"]}]}]"#
            ),
            LintCase(.error, .wrongType, "applinks.details[0].components[0].?", details: #"[{\#(app),"components":[{"?":7}]}]"#),
            LintCase(
                .error,
                .wrongType,
                "applinks.details[0].components[0].?.a",
                details: #"[{\#(app),"components":[{"?":{"a":true}}]}]"#
            ),
            LintCase(
                .error,
                .wrongType,
                "applinks.details[0].components[0].#",
                details: ##"[{\##(app),"components":[{"#":null}]}]"##
            ),
            LintCase(
                .error,
                .wrongType,
                "applinks.details[0].components[0].exclude",
                details: #"[{\#(app),"components":[{"exclude":"true"}]}]"#
            ),
            LintCase(
                .error,
                .wrongType,
                "applinks.details[0].defaults.caseSensitive",
                details: #"[{\#(app),"defaults":{"caseSensitive":0},"components":[{}]}]"#
            ),
            LintCase(
                .warning,
                .unknownKey,
                "applinks.details[0].components[0].path",
                details: #"[{\#(app),"components":[{"/":"/a","path":"/b"}]}]"#
            ),
            LintCase(
                .error,
                .unknownKey,
                "applinks.details[0].components[0].casesensitive",
                details: #"[{\#(app),"components":[{"casesensitive":true}]}]"#
            ),
            LintCase(
                .warning,
                .unknownKey,
                "applinks.domains",
                details: #"[{\#(app),"components":[{}]}]"#,
                beside: #""domains":[]"#
            ),
        ]
    )
    func components(expected: LintCase) {
        check(expected)
    }

    @Test(
        "Reports apps that are not PREFIX.bundle, in every service",
        arguments: [
            (
                "applinks.details[0].appIDs[1]",
                ##"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.app","com.example"],"components":[{}]}]},"webcredentials":{"apps":["ABCDE12345.com.example.app","ABCDE12345.b"]}}"##
            ),
            (
                "applinks.details[0].appID",
                ##"{"applinks":{"details":[{"appID":"$(TeamID).com.example","components":[{}]}]},"webcredentials":{"apps":[]}}"##
            ),
            (
                "webcredentials.apps[0]",
                ##"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.app"],"components":[{}]}]},"webcredentials":{"apps":["app"]}}"##
            ),
        ]
    )
    func apps(place: String, file: String) {
        let found = AssociationLint.findings(in: Array(file.utf8)).filter { $0.code == .malformedApp }
        #expect(found.map(\.place) == [place])
    }

    @Test(
        "Reports missing web credentials and apps missing in them",
        arguments: [
            ("webcredentials", ""), ("webcredentials.apps", #","webcredentials":{"apps":[]}"#),
            ("webcredentials.apps", #","webcredentials":{}"#),
        ]
    )
    func webCredentials(place: String, service: String) {
        let file = #"{"applinks":{"details":[{\#(Self.app),"components":[{}]}]}\#(service)}"#
        let findings = AssociationLint.findings(in: Array(file.utf8))
        #expect(findings.map(\.code) == [.missingWebCredentials])
        #expect(findings.map(\.place) == [place])
    }
}
