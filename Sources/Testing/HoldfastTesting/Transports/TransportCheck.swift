public import HTTPTypes
public import ResilientHTTP

/// A check of one rule that every transport must follow. The check uses real sockets. Run all checks on a transport before you use the
/// transport in a client.
///
/// ```swift
/// @Test("Keeps the contract of transports", arguments: TransportCheck.all)
/// func keeps(_ check: TransportCheck) async throws {
///     try await check.run(MyTransport())
/// }
/// ```
///
/// Each check starts its own ``LoopbackServer``, so checks may run concurrently. Most checks take milliseconds, but checks of deadlines
/// take up to 2 s. If the machine is too busy for the first deadline, a check repeats its steps with longer deadlines, of up to 120 s. The
/// suite covers HTTP/1.1 without TLS. Certificates, proxies and HTTP/2 need other tests.
///
/// Also run ``EverydayTasks``, which tests a transport together with a client.
///
/// The documentation of each group of checks lists common causes of failures. To find the cause of a single failure, run the check with a
/// ``LoopbackServer`` that you create, and print ``LoopbackServer/received``.
public struct TransportCheck: Sendable, CustomStringConvertible {
    /// The rule as a sentence. `Trap:` marks a case that is easy to get wrong.
    public let description: String
    /// Whether the check needs a transport that can pause one side of an exchange while the other side is slow. `URLSession` on Linux can't
    /// pause: it stores the bytes in a temporary file. Skip these checks for such a transport.
    public let needsPausing: Bool
    /// The steps of the check.
    private let body: @Sendable (any HTTPTransport) async throws -> Void

    /// An error that a check throws if the transport violates the rule. If the transport throws a `TransportError` that the check doesn't
    /// expect, the check rethrows the `TransportError` unchanged.
    public struct Violation: Error, CustomStringConvertible {
        /// The observed behavior.
        public let description: String
    }

    /// Creates a check.
    /// - Parameters:
    ///   - description: The rule as a sentence in the present tense.
    ///   - needsPausing: Whether the transport must be able to pause.
    ///   - body: The steps of the check.
    init(_ description: String, needsPausing: Bool = false, _ body: @escaping @Sendable (any HTTPTransport) async throws -> Void)
    {
        self.description = description
        self.needsPausing = needsPausing
        self.body = body
    }

    /// All checks: responses, bodies, redirects, failures, deadlines and cancellation, uploads, and streams.
    public static let all = responses + bodies + redirects + failures + endings + uploads + streams

    /// Runs the check on a transport.
    /// - Parameter transport: The transport. Several checks may share it.
    /// - Throws: ``Violation`` if the transport violates the rule; `TransportError` or ``LoopbackServer/SetupFailure`` if a step fails for
    ///   another reason.
    public func run(_ transport: any HTTPTransport) async throws {
        try await body(transport)
    }

    /// Requires that a condition holds.
    /// - Parameters:
    ///   - condition: The condition.
    ///   - otherwise: The observed behavior. The argument is only evaluated for a violation.
    /// - Throws: ``Violation`` if the condition is `false`.
    static func expect(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws {
        guard condition else { throw Violation(description: otherwise()) }
    }

    /// Runs a closure with a scripted server, and closes the server at the end, even after an error. The server serves one request on each
    /// connection.
    /// - Parameters:
    ///   - steps: The reaction to the request of each connection.
    ///   - body: Uses the server.
    static func withServer(
        _ steps: LoopbackServer.Step...,
        body: (LoopbackServer) async throws -> Void
    ) async throws {
        try await withServer(connections: steps.map { [$0] }, body: body)
    }

    /// Runs a closure with a server that has a script for each connection, and closes the server at the end, also after an error.
    /// - Parameters:
    ///   - connections: The reactions to the requests of each connection, in the order in which they are opened.
    ///   - body: Uses the server.
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

    /// Returns a complete response with a `Content-Length`. The server closes the connection after this response.
    /// - Parameters:
    ///   - status: The code and the phrase, such as `200 OK`.
    ///   - lines: Further header lines, without CRLF.
    ///   - body: The body as UTF-8 text.
    static func respond(_ status: String, _ lines: [String] = [], body: String = "") -> LoopbackServer.Step {
        .respond(head(status, lines + ["Content-Length: \(body.utf8.count)"]) + body)
    }

    /// Returns the head of a response after which the server closes the connection. The head has a `Content-Length` only if `lines`
    /// contains one.
    /// - Parameters:
    ///   - status: The code and the phrase, such as `200 OK`.
    ///   - lines: Further header lines, without CRLF.
    static func head(_ status: String, _ lines: [String] = []) -> String {
        (["HTTP/1.1 \(status)", "Connection: close"] + lines).map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// Sends a request and reads the complete response, up to 64 MiB.
    /// - Parameters:
    ///   - transport: The transport under test.
    ///   - request: The request without its body.
    ///   - bytes: The body; `nil` for none.
    ///   - timeout: The deadline of the whole exchange. The default is long, because hundreds of tests run on the machine at the same time.
    /// - Throws: The `TransportError` of the exchange or of the body.
    static func exchange(
        _ transport: any HTTPTransport,
        _ request: HTTPRequest,
        _ bytes: [UInt8]? = nil,
        timeout: Duration = .seconds(300)
    ) async throws -> (response: HTTPResponse, body: [UInt8]) {
        let body = bytes.map { RequestBody($0, contentType: "application/octet-stream") }
        let (response, responseBody) = try await transport.send(request, body: body, timeout: timeout)
        return (response, try await responseBody.collect(upTo: 64 * 1_024 * 1_024).bytes)
    }

    /// Returns the error of an operation.
    /// - Parameter operation: The operation, which must fail.
    /// - Throws: ``Violation`` if the operation succeeds or throws an error of another type.
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

    /// The error of a step that did not complete before the deadline of the check, because the machine is busy.
    private struct Overdue: Error {}

    /// Runs the steps of a check with a short deadline. While the machine is too busy for the steps, the function repeats them with longer
    /// deadlines.
    /// - Parameter steps: The steps. They call ``expectArrival(at:)`` or ``inTime(_:)`` for a condition that a pause of the machine can
    ///   prevent.
    /// - Throws: ``Violation`` if the longest deadline is too short as well; otherwise the error of the steps.
    static func withDeadlines(_ steps: (_ deadline: Duration) async throws -> Void) async throws {
        for deadline in [Duration.milliseconds(300), .seconds(3), .seconds(30), .seconds(120)] {
            do { return try await steps(deadline) } catch is Overdue { continue }
        }
        throw Violation(description: "a step took longer than 120 s")
    }

    /// Requires that the server has received a request. Otherwise, the deadline may have passed before the transport could send it.
    static func expectArrival(at server: LoopbackServer) throws {
        guard !server.received.isEmpty else { throw Overdue() }
    }

    /// Returns the result of a step that must complete before the deadline of the check.
    static func inTime<Value>(_ step: () async throws -> Value) async throws -> Value {
        do {
            return try await step()
        } catch let error as TransportError where error.code == .timeout {
            throw Overdue()
        }
    }
}

extension LoopbackServer {
    /// Returns a request to this server.
    /// - Parameters:
    ///   - path: The path with the query, such as `/a?x=1`.
    ///   - method: The method.
    ///   - headers: The header fields.
    public func request(_ path: String = "/a", method: HTTPRequest.Method = .get, headers: HTTPFields = [:]) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: "127.0.0.1:\(port)", path: path, headerFields: headers)
    }
}
