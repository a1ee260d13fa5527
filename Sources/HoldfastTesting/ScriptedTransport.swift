public import HTTPTypes
public import ResilientHTTP
import Synchronization

/// A transport that answers from a script and remembers what it was asked.
public final class ScriptedTransport: HTTPTransport {
    /// What the transport does with one request.
    public enum Step: Sendable {
        /// Answers.
        case answer(status: Int, headers: HTTPFields = [:], body: String = "")
        /// Fails.
        case failure(TransportError)
    }

    /// A request that was sent.
    public struct Sent: Sendable {
        /// The head.
        public let request: HTTPRequest
        /// The body.
        public let body: [UInt8]?
    }

    private let state: Mutex<(steps: [Step], sent: [Sent])>

    /// Creates a transport that takes the steps in order, one for each request.
    public init(_ steps: [Step]) {
        self.state = Mutex((steps, []))
    }

    /// The requests so far, in order.
    public var sent: [Sent] { state.withLock(\.sent) }

    /// Takes the next step; a script without a step left fails with the code `other`, and nothing counts as sent.
    public func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let step = state.withLock { state -> Step? in
            state.sent.append(Sent(request: request, body: body?.bytes))
            return state.steps.isEmpty ? nil : state.steps.removeFirst()
        }
        switch step {
        case .answer(let status, let headers, let body):
            return (HTTPResponse(status: .init(code: status), headerFields: headers), ResponseBody(Array(body.utf8)))
        case .failure(let error): throw error
        case nil: throw TransportError(.other, message: "the script has no step left", wasSent: false)
        }
    }
}
