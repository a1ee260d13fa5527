import Foundation
import Testing

/// The files that XcodeGen and Xcode read.
@Suite("Setup of the example app")
struct AppSetupTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    private func propertyList(_ name: String) throws -> [String: Any] {
        let data = try Data(contentsOf: Self.folder.appending(path: "Resources/\(name)"))
        return try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    }

    @Test("Info.plist has the app's scheme and allows local networking only", arguments: ["Info.plist", "Info-UIKit.plist"])
    func info(name: String) throws {
        let info = try propertyList(name)
        let types = try #require(info["CFBundleURLTypes"] as? [[String: Any]])
        #expect(types.first?["CFBundleURLSchemes"] as? [String] == [Configuration.scheme])
        let security = try #require(info["NSAppTransportSecurity"] as? [String: Bool])
        #expect(security == ["NSAllowsLocalNetworking": true])
        #expect((info["UIApplicationSceneManifest"] != nil) == (name == "Info-UIKit.plist"))
    }

    @Test("The entitlements have the domain of the links", arguments: ["App.entitlements", "Mac.entitlements"])
    func entitlements(name: String) throws {
        let domains = try propertyList(name)["com.apple.developer.associated-domains"] as? [String]
        #expect(domains == ["applinks:\(Configuration.linkHost)", "webcredentials:\(Configuration.linkHost)"])
    }

    @Test("The project signs with the entitlements, and XcodeGen overwrites no file")
    func signing() throws {
        let project = try String(contentsOf: Self.folder.appending(path: "project.yml"), encoding: .utf8)
        let signing = project.matches(of: /CODE_SIGN_ENTITLEMENTS: Resources\/(\w+)\.entitlements/).map { String($0.output.1) }
        #expect(signing == ["App", "Mac"])
        // XcodeGen writes the file of these keys, with the properties below the key as its contents.
        #expect(project.matches(of: /(?m)^\s*(entitlements|info):/).isEmpty)
    }

    @Test("The project names files that exist, and every product that the sources import")
    func project() throws {
        let project = try String(contentsOf: Self.folder.appending(path: "project.yml"), encoding: .utf8)
        for match in project.matches(of: /Resources\/[\w.-]+/) {
            #expect(
                FileManager.default.fileExists(atPath: Self.folder.appending(path: String(match.output)).path),
                "\(match.output)"
            )
        }
        let products = Set(project.matches(of: /product: (\w+)/).map { String($0.output.1) })
        let system: Set<String> = [
            "Foundation", "Observation", "SwiftUI", "UIKit", "Synchronization", "DeveloperToolsSupport",
        ]
        let sources = FileManager.default.enumerator(at: Self.folder.appending(path: "Sources"), includingPropertiesForKeys: nil)
        var imports: Set<String> = []
        for case let file as URL in sources ?? .init() where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            imports.formUnion(text.matches(of: /(?m)^\s*import (\w+)/).map { String($0.output.1) })
        }
        #expect(imports.subtracting(system) == products)
    }
}
