import Foundation
import HTTPTypes
import HoldfastTesting
import NIOCore
import NIOPosix
import ResilientHTTP
import Synchronization
import Timekeeping

/// Clients of one kind, each with a separate pipeline, and the server that they share.
struct Fleet: Sendable {
    var name: String
    var clients: Int
    /// Calls per second of one client.
    var rate: Double
    /// How many times faster than real time the clock runs.
    var factor: Int
    /// Whether the server sends no response instead of a refusal.
    var isSilent = false

    /// The calls per second of all clients together.
    var offered: Double { Double(clients) * rate }
    /// The requests per second that the server serves at full capacity.
    var capacity: Double { offered * 1.25 }

    static let all = [
        Fleet(name: "200 phones × 0.4/s", clients: 200, rate: 0.4, factor: 4),
        Fleet(name: "200 phones × 0.4/s, silent server", clients: 200, rate: 0.4, factor: 4, isSilent: true),
        Fleet(name: "20 services × 40/s", clients: 20, rate: 40, factor: 1),
        Fleet(name: "4 services × 40/s", clients: 4, rate: 40, factor: 1),
    ]
}

/// The results of one fleet in one brown-out.
struct Story: Sendable {
    /// When a call began and ended, and whether it succeeded.
    struct Call: Sendable {
        var begin: Duration
        var end: Duration
        var isGood: Bool
    }

    static let begin = Duration.seconds(3)
    static let recovery = Duration.seconds(33)
    static let end = Duration.seconds(48)

    var calls: [Call]
    var attempts: Int
    var ideal: Double

    private var during: [Call] { calls.filter { $0.begin >= Self.begin && $0.begin < Self.recovery } }

    /// The requests sent during the brown-out, divided by the calls that began during it.
    var attemptsPerCall: Double { Double(attempts) / Double(during.count) }

    /// The successful calls that ended during the brown-out, as a share of the server's capacity.
    var goodput: Double {
        let good = calls.count { $0.isGood && $0.end >= Self.begin && $0.end < Self.recovery }
        return Double(good) / (ideal * ((Self.recovery - Self.begin) / .seconds(1)))
    }

    /// Returns the share of successful calls among those that began in a span after the recovery.
    func success(from first: Duration, to last: Duration) -> Double {
        let span = calls.filter { $0.begin >= Self.recovery + first && $0.begin < Self.recovery + last }
        return Double(span.count { $0.isGood }) / Double(max(1, span.count))
    }

    /// The whole seconds after the recovery from which on 99 % of the calls succeed; `nil` if that isn't reached before the end.
    var secondsToRecover: Int? {
        let span = Int((Self.end - Self.recovery) / .seconds(1))
        let bad = (0..<span).last { success(from: .seconds($0), to: .seconds($0 + 1)) < 0.99 }
        return bad.map { $0 + 1 < span ? $0 + 1 : nil } ?? 0
    }
}

/// The calls of all clients, in the order of their ends.
private final class CallLog: Sendable {
    private let ended = Mutex<[Story.Call]>([])
    var calls: [Story.Call] { ended.withLock(\.self) }
    func note(_ call: Story.Call) { ended.withLock { $0.append(call) } }
}

extension Fleet {
    /// Runs a brown-out: 3 s at full capacity, 30 s at a fifth of it, 15 s at full capacity.
    func run(_ contender: Contender) async throws -> Story {
        let clock = QuickClock(factor: factor)
        let begin = clock.now
        let (servers, group) = (MultiThreadedEventLoopGroup(numberOfThreads: 1), MultiThreadedEventLoopGroup(numberOfThreads: 1))
        let server = BusyServer(rate: capacity, isSilent: isSilent, clock: clock)
        let listener = try await server.start(on: servers)
        guard let port = listener.localAddress?.port, let url = URL(string: "http://127.0.0.1:\(port)") else { throw NoAddress() }
        let sent = Counter()
        let transports = (0..<clients).map { _ in SocketTransport(group: group, port: port, factor: factor, sent: sent) }
        let log = CallLog()
        let attempts = try await withThrowingTaskGroup(of: Int?.self) { tasks in
            for (number, transport) in transports.enumerated() {
                var client = APIClient(
                    baseURL: url,
                    transport: transport,
                    middleware: contender.middleware(),
                    environment: ClientEnvironment(clock: MonotonicClock(clock))
                )
                // Otherwise a silent server would hold more connections than a process may have.
                client.attemptTimeout = .seconds(2)
                tasks.addTask { [client] in
                    try await drive(client, seed: UInt64(number), clock: clock, from: begin, log)
                    return nil
                }
            }
            tasks.addTask {
                try await clock.sleep(until: begin.advanced(by: Story.begin), tolerance: .zero)
                server.change(rate: capacity / 5)
                let before = sent.value
                try await clock.sleep(until: begin.advanced(by: Story.recovery), tolerance: .zero)
                server.change(rate: capacity)
                return sent.value - before
            }
            return try await tasks.reduce(0) { $0 + ($1 ?? 0) }
        }
        for transport in transports { transport.close() }
        try await listener.close()
        try await group.shutdownGracefully()
        try await servers.shutdownGracefully()
        return Story(calls: log.calls, attempts: attempts, ideal: capacity / 5)
    }

    private struct NoAddress: Error {}

    /// Makes the calls of one client at random moments, without waiting for earlier calls.
    private func drive(
        _ client: APIClient,
        seed: UInt64,
        clock: QuickClock,
        from begin: QuickClock.Instant,
        _ ended: CallLog
    ) async throws {
        var random = SplitMix64(seed: seed)
        try await withThrowingDiscardingTaskGroup { calls in
            var next = Duration.zero
            while true {
                next += .seconds(-Foundation.log(Double.random(in: Double.leastNonzeroMagnitude...1, using: &random)) / rate)
                guard next < Story.end else { return }
                try await clock.sleep(until: begin.advanced(by: next), tolerance: .zero)
                let start = next
                calls.addTask {
                    let isGood = (try? await client.send(.get, "/api/activities/17")) != nil
                    ended.note(Story.Call(begin: start, end: begin.duration(to: clock.now), isGood: isGood))
                }
            }
        }
    }
}
