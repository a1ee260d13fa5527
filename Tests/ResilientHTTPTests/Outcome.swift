import ErrorContract
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization

/// What becomes of an operation that runs on a ``SteppedExecutor``: nothing as long as it waits, so that a test which is wrong
/// fails rather than hangs.
final class Outcome<Value: Sendable>: Sendable {
    private let state: Mutex<(result: Result<Value, any Error>?, task: Task<Void, Never>?)> = Mutex((nil, nil))

    init(on executor: SteppedExecutor, _ operation: @escaping @Sendable () async throws -> Value) {
        let task = Task(executorPreference: executor) {
            let result: Result<Value, any Error>
            do { result = .success(try await operation()) } catch { result = .failure(error) }
            self.state.withLock { $0.result = result }
        }
        state.withLock { $0.task = task }
    }

    /// The value or the error; `nil` while it runs or waits.
    var result: Result<Value, any Error>? { state.withLock(\.result) }
    /// Whether it has ended.
    var isOver: Bool { result != nil }
    /// What it ended with, if that was an error of the client.
    var error: APIError? {
        if case .failure(let error) = result { error as? APIError } else { nil }
    }

    func cancel() { state.withLock(\.task)?.cancel() }
}

/// Answers from a script at once, and remembers when it was asked what.
final class RecordingTransport: HTTPTransport {
    private let script: ScriptedTransport
    private let clock: ManualClock
    private let times = Mutex<[Duration]>([])

    init(_ clock: ManualClock, _ steps: [ScriptedTransport.Step]) {
        (self.clock, script) = (clock, ScriptedTransport(steps))
    }

    /// When requests came, in order.
    var instants: [Duration] { times.withLock(\.self) }
    /// The requests, in order.
    var requests: [HTTPRequest] { script.sent.map(\.request) }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        times.withLock { $0.append(clock.now.offset) }
        return try await script.send(request, body: body, timeout: timeout)
    }
}
