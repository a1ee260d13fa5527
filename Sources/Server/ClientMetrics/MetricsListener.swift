public import CoreMetrics
import ErrorContract
public import ResilientHTTP
import Synchronization
import Timekeeping

/// A listener that counts and times the calls of a client, for swift-metrics. Add one listener to each client. Listeners with the same
/// factory share the series.
///
/// - `http_client_calls`, and the timer `http_client_call_duration`: finished calls. The label `outcome` is `success` or the error's code.
///   The label `gave_up` is the reason why the client didn't retry the call again, or `no`.
/// - `http_client_attempts`, and the timer `http_client_attempt_duration`: requests passed to the transport. The label `status` is `2xx`,
///   `4xx` and so on, or `none` if there was no response.
/// - `http_client_waits`, and the timer `http_client_wait_duration`: delays of a call, with the label `reason`. The timer records the
///   planned duration.
/// - `http_client_refusals`: calls that the client itself refused, with the label `by`.
/// - `http_client_refreshes`: refreshes of the session, with the label `shared`.
///
/// All metrics have the label `endpoint`: the method and the template of the route, never a path. At most 200 endpoints and 100 codes have
/// their own series. The listener counts further endpoints and codes as `other`.
///
/// The listener is thread-safe. For an offline queue, use ``QueueMetrics``.
public final class MetricsListener: CallListener {
    /// The largest number of endpoints with their own series.
    static let mostEndpoints = 200
    /// The largest number of codes with their own series.
    static let mostCodes = 100

    private struct State {
        var endpoints: [Endpoint: String] = [:]
        var codes: Set<String> = []
        var counters: [Series: Counter] = [:]
        var timers: [Series: Timer] = [:]
    }

    /// One series of a metric.
    private struct Series: Hashable {
        var name: String
        var endpoint: String
        var labels: [Label]

        var dimensions: [(String, String)] { [("endpoint", endpoint)] + labels.map { ($0.name, $0.value) } }
    }

    private struct Label: Hashable {
        var name: String
        var value: String

        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }

    private let factory: any MetricsFactory
    private let state = Mutex(State())

    /// Creates a listener. If you use the default factory, bootstrap the metrics system first, because the initializer reads the factory.
    /// - Parameter factory: Creates the counters and timers.
    public init(factory: any MetricsFactory = MetricsSystem.factory) {
        self.factory = factory
    }

    /// Records an event. The method takes a lock for a few dictionary lookups, and never waits for anything else.
    /// - Parameter event: An event of a client. The method ignores `attemptStarted` and `gaveUp`, because it counts the end of the attempt
    ///   and the end of the call.
    public func hear(_ event: CallEvent) {
        switch event.kind {
        case .attemptStarted, .gaveUp: break
        case .attemptFinished(_, let outcome):
            let status = outcome.status.map { "\($0 / 100)xx" } ?? "none"
            note("attempts", timed: "attempt_duration", event.endpoint, [Label("status", status)], took: outcome.duration)
        case .waiting(let wait, let reason):
            note("waits", timed: "wait_duration", event.endpoint, [Label("reason", reason.rawValue)], took: wait)
        case .refusedLocally(let refusal, _): note("refusals", event.endpoint, [Label("by", refusal.rawValue)])
        case .refreshed(let isShared): note("refreshes", event.endpoint, [Label("shared", "\(isShared)")])
        case .finished(let summary):
            let labels = [
                Label("outcome", summary.code.map { bounded($0) } ?? "success"),
                Label("gave_up", summary.gaveUp?.rawValue ?? "no"),
            ]
            note("calls", timed: "call_duration", event.endpoint, labels, took: summary.duration)
        }
    }

    /// Increments a counter and records a duration in a timer, both with the label of an endpoint. If 200 other endpoints already have
    /// their own series, the label of a new endpoint is `other`.
    /// - Parameters:
    ///   - count: The name of the counter, without `http_client_`.
    ///   - time: The name of the timer, without `http_client_`; `nil` records no duration.
    ///   - endpoint: The endpoint of the call.
    ///   - labels: The other labels.
    ///   - duration: The duration to record.
    private func note(
        _ count: String,
        timed time: String? = nil,
        _ endpoint: Endpoint,
        _ labels: [Label],
        took duration: Duration = .zero
    ) {
        let (counter, timer) = state.withLock { state -> (Counter, Timer?) in
            let known = state.endpoints[endpoint]
            let shown = known ?? (state.endpoints.count < Self.mostEndpoints ? endpoint.description : "other")
            if known == nil, shown != "other" { state.endpoints[endpoint] = shown }
            let counted = Series(name: "http_client_\(count)", endpoint: shown, labels: labels)
            let counter =
                state.counters[counted] ?? Counter(label: counted.name, dimensions: counted.dimensions, factory: factory)
            state.counters[counted] = counter
            guard let time else { return (counter, nil) }
            let timed = Series(name: "http_client_\(time)", endpoint: shown, labels: labels)
            let timer = state.timers[timed] ?? Timer(label: timed.name, dimensions: timed.dimensions, factory: factory)
            state.timers[timed] = timer
            return (counter, timer)
        }
        counter.increment()
        timer?.recordNanoseconds(duration.wholeNanoseconds)
    }

    /// Returns the label of an error code: the code itself, or `other` for a new code if the largest number of codes is reached.
    private func bounded(_ code: ErrorCode) -> String {
        state.withLock { state in
            if state.codes.contains(code.rawValue) { return code.rawValue }
            guard state.codes.count < Self.mostCodes else { return "other" }
            state.codes.insert(code.rawValue)
            return code.rawValue
        }
    }
}
