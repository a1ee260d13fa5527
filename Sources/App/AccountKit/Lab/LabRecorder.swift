import ErrorContract
import HTTPTypes
import ResilientHTTP
import Synchronization
import Timekeeping

/// Records the requests of the lab's calls. The recorder must be the innermost middleware, so that it also receives the retries by other
/// middleware. It is thread-safe, because the last request of a canceled run may end after the next run has started.
final class LabRecorder: ClientMiddleware {
    /// The operation name of the calls that the recorder records.
    static let context = "error_lab"
    /// The maximum number of recorded requests of one run.
    static let maximum = 100

    /// The requests of the current run, and the time at which the run started. A mutex guards both.
    private struct State {
        var start: Duration = .zero
        var exchanges: [LabExchange] = []
    }

    private let state = Mutex(State())
    private let stopwatch: MonotonicClock

    init(stopwatch: MonotonicClock) {
        self.stopwatch = stopwatch
    }

    /// The requests since the last ``start()``.
    var exchanges: [LabExchange] { state.withLock(\.exchanges) }

    /// Removes all recorded requests, and starts the recording of a new run.
    func start() {
        let now = stopwatch.now
        state.withLock { $0 = State(start: now) }
    }

    /// Records a request and its outcome if it is a request of the lab.
    func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        guard context.name == Self.context, let id = begin(request) else { return try await next(request, body) }
        do {
            let response = try await next(request, body)
            end(id, .answered(status: response.0.status.code))
            return response
        } catch {
            end(id, Self.outcome(of: error))
            throw error
        }
    }

    /// Returns the outcome for a thrown error: a refusal of the server, or the reason why there was no response.
    private static func outcome(of error: any Error) -> LabExchange.Outcome {
        let failure = error as? APIError
        if let status = failure?.status { return .answered(status: status) }
        if let transport = (failure?.underlying ?? error) as? TransportError { return .lost(transport.code) }
        return .lost(failure?.kind == .cancelled || error is CancellationError ? .cancelled : .other)
    }

    /// Adds a request to the record.
    /// - Returns: The number of the request; `nil` if ``maximum`` requests are already recorded.
    private func begin(_ request: HTTPRequest) -> Int? {
        let now = stopwatch.now
        return state.withLock { state in
            guard state.exchanges.count < Self.maximum else { return nil }
            let exchange = LabExchange(
                id: state.exchanges.count + 1,
                method: request.method.rawValue,
                path: request.path ?? "",
                start: now - state.start,
                outcome: .pending,
                duration: .zero
            )
            state.exchanges.append(exchange)
            return exchange.id
        }
    }

    /// Records the outcome of a request.
    private func end(_ id: Int, _ outcome: LabExchange.Outcome) {
        let now = stopwatch.now
        state.withLock { state in
            // A request of a canceled run may end after the next run has started. The record might then not contain the earlier request.
            guard state.exchanges.indices.contains(id - 1), state.exchanges[id - 1].outcome == .pending else { return }
            state.exchanges[id - 1].outcome = outcome
            state.exchanges[id - 1].duration = now - state.start - state.exchanges[id - 1].start
        }
    }
}
