import ErrorContract
import Foundation
import TestSupport
import Testing

@Suite struct EmittedCodesTests {
    /// Codes that the server's sources contain, but that no request to the account server can return. They are for the routes of
    /// other
    /// apps, in whose errors and bodies they occur. `FrameworkCodesTests` provokes them.
    static let ofOtherApps: Set<ErrorCode> = [
        .resourceAlreadyExists, .resourceDeleted, .validationInvalidDate, .validationInvalidURL,
    ]
    /// The code of a server that accepts no registrations. `RegistrationRouteTests` provokes it.
    static let ofClosedServers: Set<ErrorCode> = [.authRegistrationClosed]
    /// Codes that users see as a page, and programs as a header.
    static let onPages: Set<ErrorCode> = [.resourceForbidden]

    @Test("A test provokes every code that a source of the server names")
    func everyCodeIsProvoked() throws {
        let root = Repository.root
        let names = try Self.names(in: root.appending(path: "Sources/Shared/ErrorContract/Catalogue/Standard"))
        #expect(Set(names.values) == Set(ErrorCatalogue.standard.definitions.map(\.code)))
        var emitted: Set<ErrorCode> = []
        for folder in ["Sources/Server", "Sources/Shared/AccountContract"] {
            for file in try Self.sources(in: root.appending(path: folder)) {
                let text = try String(contentsOf: file, encoding: .utf8)
                for match in text.matches(of: /\.([a-z][A-Za-z]+)\b/) {
                    if let code = names[String(match.1)] { emitted.insert(code) }
                }
            }
        }
        #expect(emitted.count > 20)
        let provoked = Set(ProvokedError.all.map(\.code)).union(Self.ofOtherApps).union(Self.onPages).union(Self.ofClosedServers)
        let forgotten = emitted.subtracting(provoked).map(\.rawValue).sorted()
        #expect(forgotten.isEmpty, "say in ProvokedError how these are brought about: \(forgotten)")
        let gone = provoked.subtracting(emitted).map(\.rawValue).sorted()
        #expect(gone.isEmpty, "no source names these any more: \(gone)")
    }

    /// Returns the codes by their names in Swift.
    private static func names(in folder: URL) throws -> [String: ErrorCode] {
        let text = try sources(in: folder).map { try String(contentsOf: $0, encoding: .utf8) }.joined()
        let pairs = text.matches(of: /public static let (\w+) = Self\("(\w+)"\)/).map { (String($0.1), ErrorCode(String($0.2))) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private static func sources(in folder: URL) throws -> [URL] {
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        return files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
    }
}
