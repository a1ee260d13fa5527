import CoreMetrics
import Observability
import Timekeeping

/// The metrics of a client. If a metric has a label, the list contains the label and its values.
///
/// - `postgres_connections`, label `state`: `idle`, `used`, `opening`.
/// - `postgres_waiting`: tasks that wait for a connection.
/// - `postgres_wait`: the time for which tasks waited for a connection.
/// - `postgres_transactions`, label `outcome`: `committed`, `rolled_back`, `failed`, `unknown`. A single statement counts as a transaction.
/// - `postgres_retries`, label `reason`: `conflict`, `connection`, `unknown_outcome`, `changed_plan`.
struct PostgresMetrics: Sendable {
    private let idle, used, opening, waiting: Gauge
    private let wait: Timer
    private let factory: any MetricsFactory

    init(factory: any MetricsFactory) {
        func connections(_ state: String) -> Gauge {
            Gauge(label: "postgres_connections", dimensions: [("state", state)], factory: factory)
        }
        (idle, used, opening) = (connections("idle"), connections("used"), connections("opening"))
        waiting = Gauge(label: "postgres_waiting", dimensions: [], factory: factory)
        wait = Timer(label: "postgres_wait", dimensions: [], preferredDisplayUnit: .seconds, factory: factory)
        self.factory = factory
        transactions = Counter.each("postgres_transactions", by: "outcome", factory: factory)
        retries = Counter.each("postgres_retries", by: "reason", factory: factory)
    }

    /// The outcome of a transaction.
    enum Outcome: String, CaseIterable {
        case committed, failed, unknown
        case rolledBack = "rolled_back"
    }

    private let transactions: [Outcome: Counter]
    private let retries: [RetryReason: Counter]

    /// Counts a transaction.
    func ended(_ outcome: Outcome) { transactions[outcome]?.increment() }

    /// Counts a repetition.
    func repeated(_ reason: RetryReason) { retries[reason]?.increment() }

    /// Records the time that a job waited for a connection.
    func waited(_ duration: Duration) { wait.recordNanoseconds(max(0, duration.wholeNanoseconds)) }

    /// Records the numbers of connections and waiting tasks.
    func record(_ status: PostgresStatus) {
        idle.record(status.idle)
        opening.record(status.opening)
        used.record(status.open - status.idle - status.opening)
        waiting.record(status.waiting)
    }
}
