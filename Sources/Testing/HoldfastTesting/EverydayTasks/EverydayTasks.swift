import ErrorContract
import Foundation
import HTTPTypes
import ResilientHTTP

/// Tests of a transport with the everyday tasks of an app. A client with default settings runs the tasks over real sockets. Every transport
/// must support all tasks.
///
/// Run them in addition to ``TransportCheck``:
///
/// ```swift
/// @Test("Supports everyday tasks", arguments: EverydayTasks.calls + EverydayTasks.streaming)
/// func supports(_ task: TransportCheck) async throws {
///     try await task.run(MyTransport())
/// }
/// ```
///
/// The documentation shows the code between `// snippet: NAME` and `// snippet end`.
///
/// ``TransportCheck`` finds violations of the protocol `HTTPTransport`. The tasks find faults of a transport and a client together, such as
/// a retry that sends only the rest of a file. ``memoryGrowth(_:size:)`` measures whether a transport streams bodies or stores them in
/// memory.
public enum EverydayTasks {}

extension EverydayTasks {
    /// Tasks that call an endpoint and decode the response, with queries, headers, deadlines, errors, cached responses and pages.
    ///
    /// Most calls take milliseconds. The calls may run concurrently, because each one has its own server and client.
    public static let calls = verbs + requests + responses + waits

    /// Starts a server, and runs a closure with a client of this server. Closes the server at the end, even after an error. The client's
    /// timeouts are long, because hundreds of tests run on the machine at the same time.
    /// - Parameters:
    ///   - transport: The transport under test.
    ///   - environment: The client's clock and connectivity.
    ///   - storesBodies: Whether the server stores the bodies of requests. Pass `false` for large uploads.
    ///   - respond: Returns the step for a request. The server calls this closure on the thread of the request's connection.
    ///   - body: Uses the client.
    /// - Throws: ``LoopbackServer/SetupFailure`` if the server can't start; errors of the body.
    static func withClient(
        over transport: any HTTPTransport,
        environment: ClientEnvironment = ClientEnvironment(chance: { 0.1 }),
        storesBodies: Bool = true,
        responding respond: @escaping @Sendable (LoopbackServer.Received) -> LoopbackServer.Step,
        body: (APIClient, LoopbackServer) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(storesBodies: storesBodies, responding: respond)
        do {
            guard let url = URL(string: server.origin) else { throw TransportCheck.Violation(description: "no address") }
            var api = APIClient(baseURL: url, transport: transport, timeout: .seconds(600), environment: environment)
            api.attemptTimeout = .seconds(600)
            try await body(api, server)
            await server.close()
        } catch {
            await server.close()
            throw error
        }
    }

    /// Runs a closure with a client whose server responds to each request with the same step.
    /// - Parameters:
    ///   - transport: The transport under test.
    ///   - step: The reaction to each request.
    ///   - body: Uses the client.
    static func withClient(
        over transport: any HTTPTransport,
        step: LoopbackServer.Step,
        body: (APIClient, LoopbackServer) async throws -> Void
    ) async throws {
        try await withClient(over: transport, responding: { _ in step }, body: body)
    }

    /// Returns a step that sends a response with a `Content-Length` and keeps the connection open.
    /// - Parameters:
    ///   - status: The code and the phrase, such as `200 OK`.
    ///   - lines: Further header lines, without CRLF.
    ///   - body: The body as UTF-8 text.
    static func response(_ status: String = "200 OK", _ lines: [String] = [], body: String = "") -> LoopbackServer.Step {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + lines
        return .keep(head.map { $0 + "\r\n" }.joined() + "\r\n" + body)
    }

    /// Returns the error of an operation.
    /// - Parameter operation: The operation, which must fail.
    /// - Throws: `TransportCheck.Violation` if the operation succeeds or throws an error of another type.
    static func failure(_ operation: () async throws -> Void) async throws -> APIError {
        do {
            try await operation()
        } catch let error as APIError {
            return error
        } catch {
            throw TransportCheck.Violation(description: "threw \(type(of: error)), which is not an APIError")
        }
        throw TransportCheck.Violation(description: "succeeded")
    }
}

extension LoopbackServer.Received {
    /// The request line without the version, such as `GET /notes/1`.
    var line: String { head.first.map { String($0.dropLast(" HTTP/1.1".count)) } ?? "" }
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }
}

/// The JSON value that the tasks send and receive.
struct Note: Codable, Hashable {
    /// The number in the path of the note.
    var id: Int
    /// A text, which the tasks change.
    var title: String
}
