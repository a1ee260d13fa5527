import Foundation
import TestSupport
import Testing

/// The Python programs that check the API independently. `scripts/python-tools api-tools` installs them.
enum APITools {
    /// The repository's root.
    static let root = Repository.root

    /// Returns the folder of the programs.
    /// - Throws: An error with instructions if they are missing or have another version than required.
    private static func folder() throws -> URL {
        let environment = ProcessInfo.processInfo.environment
        let cache =
            environment["XDG_CACHE_HOME"].flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) }
            ?? FileManager.default.homeDirectoryForCurrentUser.appending(path: ".cache")
        let folder = cache.appending(path: "holdfast/api-tools")
        let asked = try String(contentsOf: root.appending(path: "scripts/api-tools.txt"), encoding: .utf8)
        let installed = try? String(contentsOf: folder.appending(path: "requirements.txt"), encoding: .utf8)
        try #require(
            installed == asked,
            "schemathesis is not in \(folder.path), or not in the right version: run scripts/python-tools api-tools"
        )
        return folder.appending(path: "bin")
    }

    /// Runs a program and waits until it ends.
    static func run(
        _ name: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        in directory: URL
    ) async throws -> ProcessResult {
        let process = Process()
        process.executableURL = try folder().appending(path: name)
        process.arguments = arguments
        process.environment = ["HOME": directory.path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"]
            .merging(environment) { $1 }
        process.currentDirectoryURL = directory
        process.standardInput = FileHandle.nullDevice
        return try await process.result()
    }
}
