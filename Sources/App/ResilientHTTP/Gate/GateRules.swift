/// How long gates stay closed, and who waits at them.
///
/// The defaults follow from a search over policies for a server at a fifth of its capacity, see `docs/benchmarks.md`: longer stretches let the
/// server serve more of what it can, shorter ones notice sooner that it has recovered.
public struct GateRules: Hashable, Sendable {
    /// By how much a delay is stretched that a server names, as a part of the delay, so that a fleet does not come back at once.
    public struct Stretch: Hashable, Sendable {
        /// The smallest and the largest stretch; in between it is random.
        public var range: ClosedRange<Double>
        /// The longest stretch in time: long delays are stretched by less.
        public var longest: Duration

        /// Creates a stretch.
        public init(_ range: ClosedRange<Double>, longest: Duration) {
            (self.range, self.longest) = (range, longest)
        }

        func bounded(by limit: Duration?) -> Stretch {
            limit.map { Stretch(range, longest: min(longest, $0)) } ?? self
        }

        func applied(to delay: Duration, chance: Double) -> Duration {
            delay + min(longest, delay * (range.lowerBound + (range.upperBound - range.lowerBound) * chance))
        }
    }

    /// The stretch when a 503 closes a host's gate that stood open.
    public var host = Stretch(2...3, longest: .seconds(6))
    /// The stretch when a 503 closes a host's gate again before it stood wide open: the server named too little.
    public var hostAgain = Stretch(4...4.5, longest: .seconds(9))
    /// The stretch when a 429 closes an endpoint's gate.
    public var endpoint = Stretch(0...0.5, longest: .seconds(10))
    /// The stretch when a 429 closes an endpoint's gate again before it stood wide open.
    public var endpointAgain = Stretch(0.5...1, longest: .seconds(10))
    /// How long a gate stays closed when the server names no delay; between half of it and the whole, at random.
    public var unnamed = Backoff(base: .seconds(1), cap: .seconds(8))
    /// The longest closure by a 429, and by a 503 unless its body and its header name the same longer time.
    public var longestClosure: Duration = .seconds(60)
    /// How long a new call waits at a gate before it fails. A call that was sent before waits until its deadline.
    public var patience: Duration = .seconds(2)
    /// How long a new call waits at a gate that is paced before it fails.
    public var pacedPatience: Duration = .milliseconds(250)
    /// The largest number of calls that wait at gates.
    public var maximumWaiters = 1_024

    /// Creates the default rules.
    public init() {}
}
