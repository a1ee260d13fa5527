import CoreMetrics
import NIOCore
import Synchronization

/// The metrics of a client.
///
/// - `valkey_connected`: 1 while a connection is ready.
/// - `valkey_commands` with `outcome`: the number of commands. `unavailable` means that the client didn't send the command, because no
///   connection was ready, too many commands were waiting, or the deadline had passed.
/// - `valkey_errors` with `reason`: errors of commands and connections.
/// - `valkey_round_trip`: the time from the call to the reply.
final class ValkeyMetrics: Sendable {
    private let connected: Meter
    private let succeeded: Counter
    private let failed: Counter
    private let unavailable: Counter
    private let roundTrip: Timer
    private let factory: any MetricsFactory
    private let errors = Mutex<[String: Counter]>([:])

    /// Creates the metrics; `valkey_connected` begins with 0.
    init(factory: any MetricsFactory) {
        self.factory = factory
        connected = Meter(label: "valkey_connected", dimensions: [], factory: factory)
        succeeded = Counter(label: "valkey_commands", dimensions: [("outcome", "ok")], factory: factory)
        failed = Counter(label: "valkey_commands", dimensions: [("outcome", "failed")], factory: factory)
        unavailable = Counter(label: "valkey_commands", dimensions: [("outcome", "unavailable")], factory: factory)
        roundTrip = Timer(label: "valkey_round_trip", dimensions: [], preferredDisplayUnit: .seconds, factory: factory)
        connected.set(0)
    }

    /// Records whether a connection is ready.
    func noteConnection(isReady: Bool) { connected.set(isReady ? 1 : 0) }

    /// Counts a command. If the command succeeded, the method also records its duration.
    func finished(after start: NIODeadline, failure: ValkeyError?) {
        guard let failure else {
            succeeded.increment()
            return roundTrip.recordNanoseconds((NIODeadline.now() - start).nanoseconds)
        }
        if failure == .unavailable { unavailable.increment() } else { failed.increment() }
        noteError(failure)
    }

    /// Counts an error.
    func noteError(_ error: ValkeyError) {
        errors.withLock { errors in
            if let known = errors[error.reason] { return known.increment() }
            let counter = Counter(label: "valkey_errors", dimensions: [("reason", error.reason)], factory: factory)
            errors[error.reason] = counter
            counter.increment()
        }
    }
}
