import ErrorContract
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization

/// The outcome of an operation that runs on a ``SteppedExecutor``. It is `nil` while the operation waits, so that an incorrect
/// test
/// fails instead of hanging.
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
    /// The client's error that it ended with, if there is one.
    var error: APIError? {
        if case .failure(let error) = result { error as? APIError } else { nil }
    }

    func cancel() { state.withLock(\.task)?.cancel() }
}

/// Responds from a script at once, and records the requests with their instants.
final class RecordingTransport: HTTPTransport {
    private let script: ScriptedTransport
    private let clock: ManualClock
    private let times = Mutex<[Duration]>([])

    init(_ clock: ManualClock, _ steps: [ScriptedTransport.Step]) {
        (self.clock, script) = (clock, ScriptedTransport(steps))
    }

    /// The instants of the requests, in order.
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
