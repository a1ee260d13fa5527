public import HTTPTypes
public import ResilientHTTP

/// A check of one rule that every transport must follow, run over a real socket. All checks together are the suite that a transport must
/// pass before a client uses it.
///
/// ```swift
/// @Test("Keeps the contract of transports", arguments: TransportCheck.all)
/// func keeps(_ check: TransportCheck) async throws {
///     try await check.run(MyTransport())
/// }
/// ```
public struct TransportCheck: Sendable, CustomStringConvertible {
    /// The rule, as a sentence.
    public let description: String
    /// Whether the transport must be able to pause one side of an exchange while the other side is slow. `URLSession` on Linux can't: it
    /// stores the bytes in a temporary file.
    public let needsPausing: Bool
    private let body: @Sendable (any HTTPTransport) async throws -> Void

    /// A violation of a rule by a transport.
    public struct Violation: Error, CustomStringConvertible {
        /// The observed behavior.
        public let description: String
    }

    init(_ description: String, needsPausing: Bool = false, _ body: @escaping @Sendable (any HTTPTransport) async throws -> Void)
    {
        self.description = description
        self.needsPausing = needsPausing
        self.body = body
    }

    /// All checks.
    public static let all = answers + bodies + redirects + failures + endings + uploads + streams

    /// Runs the check on a transport.
    /// - Throws: ``Violation`` if the transport violates the rule.
    public func run(_ transport: any HTTPTransport) async throws {
        try await body(transport)
    }

    static func expect(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws {
        guard condition else { throw Violation(description: otherwise()) }
    }

    /// Runs a body with a scripted server, and closes the server at the end.
    static func withServer(
        _ steps: LoopbackServer.Step...,
        body: (LoopbackServer) async throws -> Void
    ) async throws {
        try await withServer(connections: steps.map { [$0] }, body: body)
    }

    static func withServer(
        connections: [[LoopbackServer.Step]],
        body: (LoopbackServer) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(connections: connections)
        do {
            try await body(server)
            await server.close()
        } catch {
            await server.close()
            throw error
        }
    }

    /// Returns a complete response with the length of its body, the last one of its connection.
    static func answer(_ status: String, _ lines: [String] = [], body: String = "") -> LoopbackServer.Step {
        .answer(head(status, lines + ["Content-Length: \(body.utf8.count)"]) + body)
    }

    /// Returns the head of a response that is the last one of its connection.
    static func head(_ status: String, _ lines: [String] = []) -> String {
        (["HTTP/1.1 \(status)", "Connection: close"] + lines).map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// Sends a request and reads the complete response.
    static func exchange(
        _ transport: any HTTPTransport,
        _ request: HTTPRequest,
        _ bytes: [UInt8]? = nil,
        timeout: Duration = .seconds(300)
    ) async throws -> (response: HTTPResponse, body: [UInt8]) {
        let body = bytes.map { RequestBody($0, contentType: "application/octet-stream") }
        let (response, answer) = try await transport.send(request, body: body, timeout: timeout)
        return (response, try await answer.collect(upTo: 64 * 1_024 * 1_024).bytes)
    }

    /// Returns the error of an operation.
    static func failure(_ operation: () async throws -> Void) async throws -> TransportError {
        do {
            try await operation()
        } catch let error as TransportError {
            return error
        } catch {
            throw Violation(description: "threw \(type(of: error)), which is not a TransportError")
        }
        throw Violation(description: "succeeded")
    }
}

extension LoopbackServer {
    /// Returns a request to this server.
    public func request(_ path: String = "/a", method: HTTPRequest.Method = .get, headers: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1:\(port)", path: path, headerFields: headers)
    }
}
