import HoldfastTesting
import HoldfastURLSession

/// Runs a closure with a scripted server, and always closes the server afterwards.
func withServer<Value>(
    _ steps: LoopbackServer.Step...,
    body: (LoopbackServer) async throws -> Value
) async throws -> Value {
    let server = try LoopbackServer(steps)
    do {
        let value = try await body(server)
        await server.close()
        return value
    } catch {
        await server.close()
        throw error
    }
}

/// Returns a complete response with the length of its body.
func response(_ status: String, _ lines: [String] = [], body: String = "") -> LoopbackServer.Step {
    .respond(head(status, lines + ["Content-Length: \(body.utf8.count)"]) + body)
}

/// Returns the head of a response.
func head(_ status: String, _ lines: [String]) -> String {
    (["HTTP/1.1 \(status)", "Connection: close"] + lines).map { $0 + "\r\n" }.joined() + "\r\n"
}

extension URLSessionTransport {
    /// Whether `URLSession` can pause one side of an exchange. On Linux it can't, and the transport stores the bytes in a file.
    static var canPause: Bool {
        #if canImport(FoundationNetworking)
            false
        #else
            true
        #endif
    }
}
