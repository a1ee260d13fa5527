import HoldfastTesting
import RateLimiting

/// Callers that want to call all the time, the limit that delays them, and the connection to a server, in simulated time.
struct Simulation {
    /// The result for the ten windows after the first one.
    struct Outcome {
        var sent = 0
        var refused = 0
        /// The admitted calls of these callers, as a fraction of the server's quota.
        var used = 0.0

        var refusedShare: Double { sent == 0 ? 0 : Double(refused) / Double(sent) }
    }

    private enum Event {
        case join
        case wake
        case arrival(AdmittedCall)
        case response(AdmittedCall, CallEnd)
        case stranger
    }

    var server: SimulatedServer
    var limit: AdaptiveLimit
    var callers = 1
    var latency: ClosedRange<Int64>
    /// The average number of calls per window that other clients make at the same server.
    var strangers = 0
    /// Whether callers start one after another in the first window instead of all at its start.
    var isSpread = false
    var generator: SplitMix64
    private var queue: [(instant: Int64, event: Event)] = []

    init(_ server: SimulatedServer, own: RateLimitPolicy, latency: ClosedRange<Int64>, seed: UInt64) {
        self.server = server
        limit = AdaptiveLimit(AdaptivePolicy([own]))
        self.latency = latency
        generator = SplitMix64(seed: seed)
    }

    mutating func run() -> Outcome {
        var (waiting, wake, outcome) = (0, Int64.max, Outcome())
        let window = server.window
        for _ in 0..<callers { push(.join, at: isSpread ? .random(in: 0..<window, using: &generator) : 0) }
        if strangers > 0 { push(.stranger, at: 0) }
        while let (now, event) = queue.isEmpty ? nil : queue.removeFirst(), now < 11 * window {
            switch event {
            case .join: waiting += 1
            case .wake: wake = wake == now ? .max : wake
            case .stranger:
                _ = server.respond(at: now)
                push(.stranger, at: now + .random(in: 1...(2 * window / Int64(strangers)), using: &generator))
            case .arrival(let call):
                let end = server.respond(at: now)
                let isAdmitted = server.log.last?.isAdmitted ?? false
                if now >= window {
                    outcome.sent += 1
                    outcome.refused += isAdmitted ? 0 : 1
                    outcome.used += isAdmitted ? 1 / Double(10 * server.quota) : 0
                }
                push(.response(call, end), at: now + .random(in: latency, using: &generator))
            case .response(let call, let end):
                limit.end(call, with: end, at: now, using: &generator)
                waiting += 1
            }
            while waiting > 0, case .admitted(let call) = limit.admit(at: now) {
                waiting -= 1
                push(.arrival(call), at: now + .random(in: latency, using: &generator))
            }
            guard waiting > 0, let hold = limit.hold(at: now) else { continue }
            let instant = now + hold.wait.nanoseconds
            if instant < wake {
                wake = instant
                push(.wake, at: instant)
            }
        }
        return outcome
    }

    private mutating func push(_ event: Event, at instant: Int64) {
        let place = queue.lastIndex { $0.instant <= instant }.map { $0 + 1 } ?? 0
        queue.insert((instant, event), at: place)
    }
}
