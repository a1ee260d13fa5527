import Foundation
import TestSupport
import Testing

/// The App Store refuses an app that uses certain API of the system, unless a privacy manifest states the reason. The libraries contain
/// such a manifest, so that an app needs no entry for them.
@Suite("Privacy manifest")
struct PrivacyManifestTests {
    /// The source of the libraries for apps, without comments.
    private static func source() throws -> String {
        try Repository.files("swift", under: ["Sources/App", "Sources/Shared"])
            .flatMap { try String(contentsOf: $0, encoding: .utf8).split(separator: "\n") }
            .filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }
            .joined(separator: "\n")
    }

    @Test("Declares the API of the system for which the App Store requires a reason")
    func reasons() throws {
        let file = Repository.root.appending(path: "Sources/Shared/PrivateFiles/PrivacyInfo.xcprivacy")
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: file), format: nil)
        let manifest = try #require(list as? [String: Any])
        let declared = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        // Apple's list of the API that requires a reason, as it appears in Swift.
        let signs: [(category: String, names: [String])] = [
            ("FileTimestamp", ["stat(", "fstatat(", "getattrlist(", "creationDate", "odificationDate"]),
            ("SystemBootTime", ["systemUptime", "mach_absolute_time"]),
            ("DiskSpace", ["statfs(", "statvfs(", "volumeAvailableCapacity", "volumeTotalCapacity", "systemFreeSize"]),
            ("ActiveKeyboards", ["activeInputModes"]),
            ("UserDefaults", ["UserDefaults", "AppStorage"]),
        ]
        let source = try Self.source()
        let used = signs.filter { $0.names.contains { source.contains($0) } }.map { "NSPrivacyAccessedAPICategory" + $0.category }
        #expect(declared.compactMap { $0["NSPrivacyAccessedAPIType"] as? String } == used)
        // C617.1: files in the containers of the app.
        #expect(declared.compactMap { $0["NSPrivacyAccessedAPITypeReasons"] as? [String] } == [["C617.1"]])
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
    }
}
