import Foundation
import HoldfastTesting

extension LoopbackServer.Step {
    /// Returns a step that sends a whole response and closes the connection.
    static func response(_ status: String, _ lines: [String] = [], body: String = "") -> Self {
        let fields = ["Connection: close", "Content-Length: \(body.utf8.count)"] + lines
        return .respond((["HTTP/1.1 \(status)"] + fields).map { $0 + "\r\n" }.joined() + "\r\n" + body)
    }
}

extension LoopbackServer {
    /// Runs a server and creates a folder for the duration of a closure.
    static func run(_ steps: [Step], _ body: (LoopbackServer, URL) async throws -> Void) async throws {
        let server = try LoopbackServer(steps)
        do {
            try await withFolder { try await body(server, $0) }
        } catch {
            await server.close()
            throw error
        }
        await server.close()
    }
}
