import AppLinks
import Testing

@Suite struct AssociationFileTests {
    @Test("The file has two components per link and web credentials, byte for byte")
    func golden() throws {
        let file = try AssociationFile(apps: [AppIdentifier("ABCDE12345.com.example.app")])
        let names = ["reset-password", "verify-email", "activate", "confirm-email", "undo-email", "keep-account"]
        let components = names.map { ##"{"/":"/\##($0)","?":{"token":"?*"}},{"/":"/\##($0)","#":"?*"}"## }
        let expected =
            #"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.app"],"components":["#
            + components.joined(separator: ",") + "]}]},"
            + #""webcredentials":{"apps":["ABCDE12345.com.example.app"]}}"#
        #expect(String(decoding: file.bytes, as: UTF8.self) == expected)
        #expect(file.bytes == file.bytes)
    }

    @Test(
        "The path of the link base precedes the page once",
        arguments: [
            ("", "/reset-password"), ("/", "/reset-password"), ("/app", "/app/reset-password"), ("/app/", "/app/reset-password"),
            ("/app/reset-password", "/app/reset-password"), ("/reset-password/", "/reset-password"),
            ("/a%20b", "/a%20b/reset-password"),
        ]
    )
    func basePath(base: String, expected: String) throws {
        let file = try AssociationFile(apps: [AppIdentifier("ABCDE12345.com.example.app")], basePath: base)
        #expect(file.linkPaths.first == expected)
        #expect(file.linkPaths.last == expected.replacing("reset-password", with: "keep-account"))
    }

    @Test(
        "Refuses a base path that is a pattern or not a path",
        arguments: ["app", "/a*", "/a?b", "/a#b", "/$(lang)", "/é", "/a b"]
    )
    func badBasePath(base: String) throws {
        let app = try AppIdentifier("ABCDE12345.com.example.app")
        #expect(throws: AppLinksError(code: .badBasePath, message: "")) { try AssociationFile(apps: [app], basePath: base) }
    }

    @Test("The generated file has no findings and opens only links, in both forms", arguments: ["/", "/account"])
    func ownLinks(base: String) throws {
        let app = try AppIdentifier("ABCDE12345.com.example.app")
        let file = try AssociationFile(apps: [app, AppIdentifier("ABCDE12345.com.example.beta")], basePath: base)
        #expect(AssociationLint.findings(in: file.bytes).isEmpty)
        let matcher = try AssociationMatcher(file.bytes, domain: "id.example.com")
        for page in file.linkPaths.map({ "https://id.example.com" + $0 }) {
            for link in ["?token=abc&email=a%40b.c", "/?token=abc", "#token=abc", "/#token=abc&email=a"] {
                #expect(matcher.match(page + link).apps.first == app.description, "\(link)")
            }
            for link in ["", "?token=", "?email=a", "#", "?token=a&token=", "/other?token=a"] {
                #expect(matcher.match(page + link).apps.isEmpty, "\(link)")
            }
        }
    }

    @Test("Refuses an empty list of apps and a duplicate app")
    func apps() throws {
        let app = try AppIdentifier("ABCDE12345.com.example.app")
        #expect(throws: AppLinksError(code: .noApps, message: "")) { try AssociationFile(apps: []) }
        #expect(throws: AppLinksError(code: .repeatedApp, message: "")) { try AssociationFile(apps: [app, app]) }
    }
}
