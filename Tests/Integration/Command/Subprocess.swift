import DataServerTesting
import Foundation
import TestSupport
import Testing

/// The commands that were built with the tests.
enum Binary {
    /// Returns the path of a command. The build puts it beside the tests.
    static func path(of name: String) throws -> String {
        try #require(ServerProcess.path(ofBuilt: name), "\(name) is not beside the tests")
    }

    /// Runs the command and waits until it ends.
    static func run(
        _ arguments: [String],
        of name: String = "holdfast",
        at path: String? = nil,
        environment: [String: String] = [:],
        input: String = "",
        in folder: URL
    ) async throws -> ProcessResult {
        let process = try make(arguments, of: name, environment: environment, in: folder)
        if let path { process.executableURL = URL(filePath: path) }
        return try await process.result(input: Data(input.utf8))
    }

    /// Returns a process of the command that has not been started.
    static func make(
        _ arguments: [String],
        of name: String = "holdfast",
        environment: [String: String],
        in folder: URL
    ) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try path(of: name))
        process.arguments = arguments
        process.environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""].merging(environment) { $1 }
        process.currentDirectoryURL = folder
        return process
    }
}

/// Creates a folder for the duration of a closure.
/// - Parameter sharesStores: Whether the commands and servers in the folder use one database, also if it is in PostgreSQL.
func withFolder<Result>(sharesStores: Bool = false, _ body: (URL) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    if sharesStores { try await TestStores.writeEnvironment(into: folder) }
    return try await body(folder)
}
