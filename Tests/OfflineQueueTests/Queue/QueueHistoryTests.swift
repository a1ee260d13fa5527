import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing
import Timekeeping

@testable import OfflineQueue

/// Random histories of two processes, two accounts and a network that fails, against a server that honors idempotency keys.
@Suite("Random histories of a queue", .timeLimit(.minutes(60))) struct QueueHistoryTests {
    /// More of them with `HOLDFAST_ROUNDS`, beginning with `HOLDFAST_SEED`.
    private static let rounds = number("HOLDFAST_ROUNDS") ?? 1_000
    private static let first = number("HOLDFAST_SEED") ?? 0

    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    @Test("Sends every request once, in order and as its user, over random failures")
    func histories() async throws {
        let tasks = 4
        let findings = try await withThrowingTaskGroup(of: [String].self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var findings: [String] = []
                    for round in stride(from: Self.first + task, to: Self.first + Self.rounds, by: tasks) where findings.count < 3
                    {
                        var history = try await QueueHistory(seed: UInt64(round))
                        findings += try await history.run().map { "history \(round): \($0)" }
                    }
                    return findings
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(findings.isEmpty, "\(findings.prefix(3).joined(separator: "\n"))")
    }
}

/// A mutation, and its state as far as the app knows it.
private struct Mutation {
    enum Fate {
        /// It was stored, and must be performed.
        case stored
        /// It may have been stored: the process was killed meanwhile.
        case unknown
        /// It must not be performed: it was canceled or replaced before it was sent.
        case never
        /// It may have been performed: the app removed it, or it became a dead letter whose outcome is unknown.
        case any
    }

    var account: String
    var lane: String
    var id: QueuedRequestID?
    /// The number of the mutation in its lane. An edit has the number of the mutation that it replaces.
    var place: Int
    var fate: Fate
    /// Whether it was a dead letter that was put back, after others of its lane may have been performed.
    var isRevived = false
}

/// One history.
private struct QueueHistory {
    private static let lanes = ["a", "b", "dependent"]
    private static let accounts = ["A", "B"]

    private var random: SplitMix64
    private let seed: UInt64
    private var processes: [QueueBench] = []
    private var drains: [Task<Void, Never>] = []
    private var mutations: [String: Mutation] = [:]
    private var next = 0
    private var steps: [String] = []
    /// How often the network fails, from 0 to 1.
    private let weather: Weather

    init(seed: UInt64) async throws {
        self.seed = seed
        random = SplitMix64(seed: seed)
        weather = Weather(seed: seed)
        // The server permanently refuses every 40th mutation.
        let first = try await QueueBench(
            server: nil,
            account: "A",
            prompting: true,
            middleware: [RetryMiddleware(RetryPolicy(maximumRetries: 2))],
            change: Self.options
        )
        processes = [first]
        weather.rule(first.network)
        try await start(1, account: "A")
    }

    private static func options(_ options: inout OfflineQueue.Options) {
        options.lanePolicies = ["dependent": .stopsOnFailure]
        options.limits.lifetime = .seconds(3 * 86_400)
        options.backoff = Backoff(base: .seconds(1), cap: .seconds(20))
    }

    /// Starts a process, in place of an earlier one.
    private mutating func start(_ number: Int, account: String?) async throws {
        let process = try await QueueBench(
            sharing: processes[0],
            account: account,
            prompting: true,
            middleware: [RetryMiddleware(RetryPolicy(maximumRetries: 2))],
            change: Self.options
        )
        weather.rule(process.network)
        if number < processes.count { processes[number] = process } else { processes.append(process) }
    }

    /// - Returns: The findings.
    mutating func run() async throws -> [String] {
        for _ in 0..<Int.random(in: 10...60, using: &random) {
            try await act()
            for _ in 0..<Int.random(in: 0...10, using: &random) { await Task.yield() }
        }
        try await heal()
        return findings().map { "\($0); \(steps)" }
    }

    private mutating func act() async throws {
        let number = Int.random(in: 0..<processes.count, using: &random)
        let process = processes[number]
        switch Int.random(in: 0..<34, using: &random) {
        case 0..<10: try await enqueue(number)
        case 10..<16: drain(process)
        case 16..<21: advance(by: .milliseconds(Int.random(in: 1...20_000, using: &random)))
        case 21:
            let hours = Int.random(in: 1...30, using: &random)
            if process.clocks.advanceBetweenStarts(by: .seconds(hours * 3_600)) { steps.append("\(hours) hours pass") }
        // Across a restart of the device only the wall clock measures ages: it is either moved or needed.
        case 22 where seed.isMultiple(of: 2):
            process.clocks.step(wall: .seconds([-86_400, 86_400, -31_536_000, 31_536_000].randomElement(using: &random) ?? 0))
            steps.append("the wall clock is moved")
        case 23, 24:
            let account = [nil, "A", "B"].randomElement(using: &random) ?? nil
            steps.append("\(number) signs in \(account ?? "no user")")
            try await process.signIn(account)
        case 25:
            steps.append("tokens expire")
            process.server.expireTokens()
        case 26, 27: weather.change(using: &random)
        case 28:
            steps.append("\(number) is killed")
            process.kill()
            try await start(number, account: Self.accounts.randomElement(using: &random))
        case 29 where !seed.isMultiple(of: 2):
            steps.append("power is lost")
            for process in processes { process.kill() }
            process.disk.losePower(using: &random)
            process.clocks.reboot()
            for number in processes.indices { try await start(number, account: "A") }
            try await keepStored()
        case 30: try await edit(process)
        case 31: try await cancel(process)
        default: try await answerLetters(process)
        }
    }

    /// Simulates a loss of power: the last changes may be lost, and all requests that are still stored must be performed.
    private mutating func keepStored() async throws {
        let ids = try await processes[0].queue.bodies()
        for (text, mutation) in mutations {
            if let id = ids[text] {
                mutations[text]?.fate = .stored
                mutations[text]?.id = id
            } else if mutation.fate != .unknown {
                mutations[text]?.fate = .any
                mutations[text]?.id = nil
            }
        }
    }

    private mutating func enqueue(_ number: Int) async throws {
        let process = processes[number]
        guard let account = try? await process.session.identity else { return }
        next += 1
        let lane = Self.lanes.randomElement(using: &random) ?? "a"
        let text = "\(account)-\(lane)-\(next)"
        steps.append("\(number) stores \(text)")
        mutations[text] = Mutation(account: account, lane: lane, place: next, fate: .unknown)
        guard let id = try? await process.enqueue(text, lane: lane) else { return }
        mutations[text]?.fate = .stored
        mutations[text]?.id = id
    }

    private mutating func drain(_ process: QueueBench) {
        drains.append(Task { await process.queue.drain() })
    }

    private mutating func edit(_ process: QueueBench) async throws {
        guard
            let (old, mutation) = mutations.filter({ $0.value.fate == .stored }).sorted(by: { $0.key < $1.key })
                .randomElement(using: &random), let id = mutation.id
        else { return }
        next += 1
        let text = "\(mutation.account)-\(mutation.lane)-\(next)"
        do {
            try await process.queue.edit(id, body: RequestBody(Array(text.utf8), contentType: "text/plain"))
            steps.append("\(old) becomes \(text)")
            mutations[old]?.fate = .never
            mutations[text] = mutation
        } catch {
            // It was delivered, or an attempt began.
        }
    }

    private mutating func cancel(_ process: QueueBench) async throws {
        guard
            let (text, mutation) = mutations.filter({ $0.value.fate == .stored }).sorted(by: { $0.key < $1.key })
                .randomElement(using: &random), let id = mutation.id
        else { return }
        guard (try? await process.queue.cancel(id)) != nil else { return }
        steps.append("\(text) is canceled")
        mutations[text]?.fate = .never
    }

    /// Removes dead letters, or puts back those that the server surely did not perform.
    private mutating func answerLetters(_ process: QueueBench) async throws {
        for letter in (try? await process.queue.deadLetters()) ?? [] {
            guard case .deadLetter(let facts) = letter.status else { continue }
            if facts.reason == .expired, Bool.random(using: &random) {
                try? await process.queue.retry(letter.id)
                for (text, mutation) in mutations where mutation.id == letter.id { mutations[text]?.isRevived = true }
            } else if (try? await process.queue.remove(letter.id)) != nil {
                for (text, mutation) in mutations where mutation.id == letter.id && mutation.fate != .never {
                    mutations[text]?.fate = .any
                }
            }
        }
    }

    private func advance(by duration: Duration) { processes[0].clocks.advance(by: duration) }

    /// Ends all failures: every stored request must then be sent.
    private mutating func heal() async throws {
        weather.clear()
        for process in processes { process.kill() }
        let settling = drains
        let clocks = processes[0].clocks
        let ended = Mutex(false)
        let waiting = Task {
            for drain in settling { await drain.value }
            ended.withLock { $0 = true }
        }
        while !ended.withLock(\.self) {
            try Task.checkCancellation()
            clocks.advance(by: .seconds(1))
            for _ in 0..<20 { await Task.yield() }
        }
        await waiting.value
        for account in Self.accounts {
            try await start(0, account: account)
            let process = processes[0]
            for _ in 0..<60 {
                await process.pass(.milliseconds(200))
                clocks.advance(by: .seconds(6))
                try await answerLetters(process)
                let rest = try await process.queue.pending(limit: .max).filter { $0.owner.account == account }
                if rest.isEmpty { break }
            }
        }
    }

    private func findings() -> [String] {
        var findings: [String] = []
        let server = processes[0].server
        let rest = processes[0].queue.counts
        if rest.pending > 0 { findings.append("\(rest.pending) requests were never sent") }
        let counts = Dictionary(server.bodies.map { ($0, 1) }, uniquingKeysWith: +)
        for (text, mutation) in mutations {
            let count = counts[text] ?? 0
            if count > 1 { findings.append("\(text) was performed \(count) times") }
            if mutation.fate == .never, count > 0 { findings.append("\(text) was performed after it was canceled or replaced") }
            if mutation.fate == .stored, count == 0 { findings.append("\(text) was lost") }
        }
        var places: [String: Int] = [:]
        for performed in server.performed {
            let parts = performed.body.split(separator: "-")
            guard parts.count == 3, let mutation = mutations[performed.body] else { continue }
            if performed.account != String(parts[0]) {
                findings.append("\(performed.body) was sent as \(performed.account ?? "-")")
            }
            let lane = "\(parts[0])-\(parts[1])"
            if mutation.isRevived { continue }
            if mutation.fate == .stored, mutation.place < places[lane] ?? 0 {
                findings.append("\(performed.body) was performed late")
            }
            places[lane] = max(places[lane] ?? 0, mutation.place)
        }
        let prompts = processes.reduce(0) { $0 + $1.prompts.count.withLock(\.self) }
        if prompts > 0 { findings.append("the user was asked to sign in") }
        return findings
    }
}

/// A network that fails at random.
private final class Weather: Sendable {
    private let state: Mutex<(random: SplitMix64, badness: Double, isClear: Bool)>

    init(seed: UInt64) { state = Mutex((SplitMix64(seed: seed ^ 0x5EED), 0.5, false)) }

    func change(using random: inout some RandomNumberGenerator) {
        let badness = Double.random(in: 0...1, using: &random)
        state.withLock { $0.badness = badness }
    }

    func clear() { state.withLock { $0.isClear = true } }

    func rule(_ network: Network) {
        network.decide { [self] _, body in
            let (fate, yields) = draw(refusing: body.hasSuffix("7"))
            for _ in 0..<yields { await Task.yield() }
            return fate
        }
    }

    private func draw(refusing isRefused: Bool) -> (Network.Fate, yields: Int) {
        state.withLock { state in
            let refusal = MutationServer.error(422, "VALIDATION_FAILED")
            let usual = Network.Fate.delivered
            guard !state.isClear, Double.random(in: 0...1, using: &state.random) < state.badness else { return (usual, 0) }
            let yields = Int.random(in: 0...20, using: &state.random)
            switch Int.random(in: 0..<10, using: &state.random) {
            case 0, 1: return (.requestLost, yields)
            case 2, 3: return (.responseLost, yields)
            case 4: return (.neverSent, yields)
            case 5: return (.hangs, yields)
            case 6: return (.response(503, [.retryAfter: "2"]), yields)
            case 7: return (.response(500, refusal.headers, MutationServer.error(500, "SERVER_ERROR").body), yields)
            case 8: return (.response(200, [.contentType: "text/html"], "<html>Sign in</html>"), yields)
            default: return (isRefused ? .response(422, refusal.headers, refusal.body) : usual, yields)
            }
        }
    }
}

extension OfflineQueue {
    /// The bodies of all stored requests, dead letters included.
    fileprivate func bodies() async throws -> [String: QueuedRequestID] {
        let frames = try await change { ledger, _ throws(QueueError) in
            ledger.records.map { (id: $0.key, frame: $0.value.content, owner: ledger.owner(of: $0.value)) }
        }
        var bodies: [String: QueuedRequestID] = [:]
        for (id, frame, owner) in frames {
            let body = try content(of: id, frame: frame, owner).body ?? []
            bodies[String(decoding: body, as: UTF8.self)] = id
        }
        return bodies
    }
}
