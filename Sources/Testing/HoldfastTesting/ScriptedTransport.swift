public import HTTPTypes
public import ResilientHTTP
import Synchronization

/// A transport that responds according to a script and records requests.
///
/// ```swift
/// let transport = ScriptedTransport([
///     .failure(TransportError(.connectionLost, message: "lost", wasSent: true)),
///     .response(status: 200, body: #"[{"id":1,"title":"Buy bread"}]"#),
/// ])
/// let api = APIClient(baseURL: url, transport: transport)
/// let notes: [Note] = try await api.get("/notes")
/// #expect(transport.sent.count == 2)
/// ```
///
/// Use this transport for tests of an app or a client that need no sockets. To test a transport itself, use ``LoopbackServer``.
///
/// Each attempt of the client consumes one step, so a retry also needs a step. The transport ignores deadlines, because every step returns
/// at once. The transport is thread-safe. Concurrent requests get the steps in the order in which their bodies were read.
///
/// Check ``sent`` at the end of a test: the number of requests shows the retries, and the header fields show what the middleware added.
public final class ScriptedTransport: HTTPTransport {
    /// The reaction to one request.
    public enum Step: Sendable {
        /// Returns a response whose body is UTF-8 text, in one piece.
        case response(status: Int, headers: HTTPFields = [:], body: String = "")
        /// Returns a response whose body arrives in chunks. If `end` is `nil`, the body is complete after the last chunk. Otherwise, the
        /// body throws the error `end` after the last chunk, for example to simulate a lost connection.
        case stream(status: Int, headers: HTTPFields = [:], chunks: [[UInt8]], end: TransportError? = nil)
        /// Throws an error instead of a response. `wasSent: false` in the error means that the request certainly did not reach the server,
        /// so that the client may repeat the request.
        case failure(TransportError)
    }

    /// A request as the transport received it.
    public struct Sent: Sendable {
        /// The method, the address and the header fields.
        public let request: HTTPRequest
        /// The complete body; `nil` if the request has none.
        public let body: [UInt8]?
    }

    /// The remaining steps and the recorded requests.
    private let state: Mutex<(steps: [Step], sent: [Sent])>

    /// Creates a transport that executes the steps in order, one for each request.
    /// - Parameter steps: The steps. Requests after the last step fail.
    public init(_ steps: [Step]) {
        self.state = Mutex((steps, []))
    }

    /// The requests so far, in order.
    public var sent: [Sent] { state.withLock(\.sent) }

    /// Reads the body, records the request, and executes the next step.
    /// - Parameters:
    ///   - request: The request without its body.
    ///   - body: The body, which is read completely.
    ///   - timeout: Ignored.
    /// - Throws: The error of the step. If no step remains, the method records the request and throws an error with the code `other` and
    ///   `wasSent: false`. If the body can't be read, the method throws the error of the body. In this case, the method doesn't record the
    ///   request and consumes no step.
    public func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let sent: [UInt8]? = if let body { try await Self.read(body) } else { nil }
        let step = state.withLock { state -> Step? in
            state.sent.append(Sent(request: request, body: sent))
            return state.steps.isEmpty ? nil : state.steps.removeFirst()
        }
        switch step {
        case .response(let status, let headers, let body):
            return (HTTPResponse(status: .init(code: status), headerFields: headers), ResponseBody(Array(body.utf8)))
        case .stream(let status, let headers, let chunks, let end):
            let left = Mutex(chunks[...])
            let body = ResponseBody {
                if let chunk = left.withLock({ $0.popFirst() }) { return chunk }
                if let end { throw end }
                return nil
            }
            return (HTTPResponse(status: .init(code: status), headerFields: headers), body)
        case .failure(let error): throw error
        case nil: throw TransportError(.other, message: "the script has no step left", wasSent: false)
        }
    }

    /// Reads a body in chunks and reports the progress after each chunk, like an HTTP engine that sends the body.
    /// - Parameter body: The body.
    /// - Returns: All bytes of the body.
    /// - Throws: The error of the body. An error of another type becomes `cancelled` with `wasSent: false`.
    private static func read(_ body: RequestBody) async throws(TransportError) -> [UInt8] {
        if let bytes = body.bytes, body.progress == nil { return bytes }
        let bytes = Mutex<[UInt8]>([])
        do {
            try await body.write { chunk in
                let sent = bytes.withLock { bytes in
                    bytes += chunk
                    return bytes.count
                }
                body.progress?(TransferProgress(completed: Int64(sent), total: body.length))
            }
        } catch let error as TransportError {
            throw error
        } catch {
            throw TransportError(.cancelled, message: "the body was not read completely", wasSent: false, cause: error)
        }
        return bytes.withLock(\.self)
    }
}
