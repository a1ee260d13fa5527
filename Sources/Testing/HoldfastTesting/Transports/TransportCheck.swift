public import HTTPTypes
public import ResilientHTTP

/// One thing that every transport does, tried over a real socket: the suite that a transport passes before a client may use it.
///
/// ```swift
/// @Test("The transport keeps to its contract", arguments: TransportCheck.all)
/// func keeps(_ check: TransportCheck) async throws {
///     try await check.run(MyTransport())
/// }
/// ```
public struct TransportCheck: Sendable, CustomStringConvertible {
    /// What the transport does, as a sentence.
    public let description: String
    /// Whether the transport must be able to pause one side of an exchange while the other side is slow. `URLSession` on Linux can't: it stores the
    /// bytes in a temporary file.
    public let needsPausing: Bool
    private let body: @Sendable (any HTTPTransport) async throws -> Void

    /// A transport does not do what it should.
    public struct Violation: Error, CustomStringConvertible {
        /// What it did.
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

    /// Tries a transport.
    /// - Throws: ``Violation`` if it does not do what it should.
    public func run(_ transport: any HTTPTransport) async throws {
        try await body(transport)
    }

    static func expect(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws {
        guard condition else { throw Violation(description: otherwise()) }
    }

    /// Runs a body against a scripted server, and closes the server whatever happens.
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

    /// A whole answer with the length of its body, the last of its connection.
    static func answer(_ status: String, _ lines: [String] = [], body: String = "") -> LoopbackServer.Step {
        .answer(head(status, lines + ["Content-Length: \(body.utf8.count)"]) + body)
    }

    /// The head of an answer that is the last of its connection.
    static func head(_ status: String, _ lines: [String] = []) -> String {
        (["HTTP/1.1 \(status)", "Connection: close"] + lines).map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// Sends a request and reads the answer whole.
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

    /// The error that an operation ends with.
    static func failure(_ operation: () async throws -> Void) async throws -> TransportError {
        do {
            try await operation()
        } catch let error as TransportError {
            return error
        } catch {
            throw Violation(description: "threw \(type(of: error)), which is no TransportError")
        }
        throw Violation(description: "succeeded")
    }
}

extension LoopbackServer {
    /// A request to this server.
    public func request(_ path: String = "/a", method: HTTPRequest.Method = .get, headers: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1:\(port)", path: path, headerFields: headers)
    }
}
