import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import RateLimiting
import Synchronization
import Testing
import Timekeeping

@testable import ResilientHTTP

/// Random histories of sign-ins, sign-outs, calls, refreshes, failures, cancellations, a second process and kills, against a
/// server that
/// knows the session of each token.
@Suite("Random histories of sessions", .timeLimit(.minutes(60))) struct SessionHistoryTests {
    /// The number of histories, which `HOLDFAST_ROUNDS` can raise.
    private static let rounds = ProcessInfo.processInfo.environment["HOLDFAST_ROUNDS"].flatMap { Int($0) } ?? 10_000

    @Test("Restores no ended session, mixes no users' tokens and signs no user out wrongly")
    func histories() async throws {
        let lanes = 4
        let findings = try await withThrowingTaskGroup(of: [String].self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    var findings: [String] = []
                    for round in stride(from: lane, to: Self.rounds, by: lanes) where findings.count < 5 {
                        var history = try History(seed: UInt64(round))
                        findings += try await history.run().map { "history \(round): \($0)" }
                    }
                    return findings
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(findings.isEmpty, "\(findings)")
    }
}

/// One history.
private struct History {
    private var random: SplitMix64
    private let clock = ManualClock()
    private let world = World()
    private let shared = SharedStore()
    private var processes: [Process]
    private var calls: [Task<Void, Never>] = []
    /// The session that the last sign-in or sign-out requested.
    private var expected: Int?
    private var steps: [String] = []

    init(seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        processes = []
        for _ in 0..<2 { processes.append(try Process(world: world, store: shared, clock: clock)) }
    }

    /// - Returns: The findings.
    mutating func run() async throws -> [String] {
        for _ in 0..<Int.random(in: 5...30, using: &random) {
            try await act()
            for _ in 0..<Int.random(in: 0...6, using: &random) { await Task.yield() }
        }
        await settle()
        var findings = world.violations
        let stored = await shared.load()
        let holders = [("store", stored)] + (try await memories())
        for (name, credentials) in holders {
            if let problem = verdict(on: credentials) { findings.append("\(name): \(problem); \(steps)") }
        }
        return findings
    }

    private func memories() async throws -> [(String, Credentials?)] {
        var memories: [(String, Credentials?)] = []
        for (number, process) in processes.enumerated() {
            memories.append(("process \(number)", try await process.session.credentials))
        }
        return memories
    }

    private func verdict(on credentials: Credentials?) -> String? {
        let session = credentials.flatMap { world.session(of: $0.accessToken) }
        switch (expected, session) {
        case (nil, nil): return nil
        case (nil, .some(let session)): return "session \(session) was resurrected"
        case (.some(let expected), nil): return world.isEnded(expected) ? nil : "signed out by mistake"
        case (.some(let expected), .some(let session)):
            return expected == session ? nil : "holds session \(session) instead of \(expected)"
        }
    }

    private mutating func act() async throws {
        let process = Int.random(in: 0..<processes.count, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0, 1:
            let credentials = world.signIn(user: Int.random(in: 0..<3, using: &random))
            expected = world.session(of: credentials.accessToken)
            steps.append("\(process) signs in \(expected ?? -1)")
            try await processes[process].session.setCredentials(credentials)
        case 2:
            steps.append("\(process) signs out")
            if let expected, Bool.random(using: &random) { world.end(expected) }
            expected = nil
            try await processes[process].session.setCredentials(nil)
        case 3...6:
            steps.append("\(process) calls")
            let client = processes[process].client
            let id = "\(calls.count)"
            calls.append(
                Task {
                    let name = HTTPField.Name("X-Call")
                    let headers: HTTPFields = name.map { [$0: id] } ?? [:]
                    _ = try? await client.send(.get, "/a", headers: headers)
                }
            )
        case 7:
            steps.append("\(process) refreshes")
            let session = processes[process].session
            calls.append(Task { try? await session.refreshNow(timeout: .seconds(20)) })
        case 8, 9:
            steps.append("tokens expire")
            world.expireTokens()
        case 10:
            if let call = calls.randomElement(using: &random) { call.cancel() }
        case 11:
            steps.append("\(process) is killed")
            processes[process].kill()
            processes[process] = try Process(world: world, store: shared, clock: clock)
        case 12, 13: clock.advance(by: .milliseconds(Int.random(in: 1...6_000, using: &random)))
        default:
            guard let outcome = World.Outcome.allCases.randomElement(using: &random) else { return }
            if world.release(outcome, at: Int.random(in: 0..<1_000, using: &random)) { steps.append("\(outcome)") }
        }
    }

    /// Waits until everything in flight has ended and every process has compared its session with the store.
    private mutating func settle() async {
        world.releaseAll()
        let (calls, processes) = (calls, processes)
        await advancing {
            for call in calls { await call.value }
            // A refresh whose last caller has left continues. A process that joined it would not compare its session with the store.
            while !processes.allSatisfy(\.session.isIdle), !Task.isCancelled { await Task.yield() }
        }
        // A session that was refreshed many times recently may be refreshed again after this time.
        clock.advance(by: SessionState.renewalWindow)
        await advancing { for process in processes { await process.refresh() } }
    }

    /// Runs a closure while the clock advances. It advances faster than a busy machine runs tasks, so that attempts may time out.
    private func advancing(_ body: @escaping @Sendable () async -> Void) async {
        let ended = Counter()
        let task = Task {
            await body()
            ended.increment()
        }
        while ended.value == 0, !Task.isCancelled {
            clock.advance(by: .milliseconds(50))
            for _ in 0..<10 { await Task.yield() }
        }
        // Without the clock, the calls might never end.
        guard !Task.isCancelled else { return task.cancel() }
        await task.value
    }
}

/// A process with a session and a client. A kill disconnects it from the store.
private struct Process {
    let session: Session
    let client: APIClient
    private let handle: StoreHandle

    init(world: World, store: SharedStore, clock: ManualClock) throws {
        handle = StoreHandle(store)
        let environment = ClientEnvironment(clock: MonotonicClock(clock), chance: { 0.5 })
        session = Session(
            store: handle,
            environment: environment,
            refresh: { try await world.refresh($0) },
            revoke: { world.revoke($0) }
        )
        client = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: world,
            session: session,
            middleware: [],
            environment: environment
        )
    }

    func kill() { handle.cut() }

    /// Refreshes the session until the server or the store has decided. If a process reaches neither of them, it keeps its session.
    func refresh() async {
        while true {
            do {
                return try await session.refreshNow(timeout: .seconds(20))
            } catch {
                guard (error as? APIError)?.isRefreshFailure == true else { return }
            }
        }
    }
}

/// The store that both processes share.
private final class SharedStore: Sendable {
    private let memory = MemoryCredentialStore()
    let lock = ConcurrencyLimiter(1, maximumWaiters: .max)

    func load() async -> Credentials? { await memory.load() }
    func save(_ credentials: Credentials?) async { await memory.save(credentials) }
    func save(_ credentials: Credentials?, replacing expected: Credentials?) async -> Bool {
        await memory.save(credentials, replacing: expected)
    }
}

/// One process's connection to the store.
private final class StoreHandle: CredentialStore {
    private struct Killed: Error {}
    private let store: SharedStore
    private let isCut = Mutex(false)

    init(_ store: SharedStore) {
        self.store = store
    }

    func cut() { isCut.withLock { $0 = true } }

    private func alive() throws -> SharedStore {
        guard !isCut.withLock({ $0 }) else { throw Killed() }
        return store
    }

    func load() async throws -> Credentials? { try await alive().load() }
    func save(_ credentials: Credentials?) async throws { try await alive().save(credentials) }
    func save(_ credentials: Credentials?, replacing expected: Credentials?) async throws -> Bool {
        try await alive().save(credentials, replacing: expected)
    }
    func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        // The lock of a killed process is free. Its flight continues here without any effect.
        try await alive().lock.run { try await body() }
    }
}

/// A server that delays refreshes until they are released with an outcome.
private final class World: HTTPTransport {
    enum Outcome: CaseIterable {
        case success, lostBefore, lostAfter, unavailable, limited, ended
    }

    private struct State {
        /// The session of each token, by number.
        var sessions: [String: Int] = [:]
        var users: [Int: Int] = [:]
        var valid: Set<String> = []
        var ended: Set<Int> = []
        var revoked: Set<String> = []
        var issued = 0
        var waiting: [CheckedContinuation<Outcome, Never>] = []
        var isOpen = false
        var usersOfCalls: [String: Int] = [:]
        var violations: [String] = []

        mutating func issue(_ session: Int) -> Credentials {
            issued += 1
            let (access, refresh) = ("at\(issued)", "rt\(issued)")
            sessions[access] = session
            sessions[refresh] = session
            valid.insert(access)
            return Credentials(accessToken: access, refreshToken: refresh)
        }
    }

    private let state = Mutex(State())

    var violations: [String] { state.withLock(\.violations) }
    func session(of token: String) -> Int? { state.withLock { $0.sessions[token] } }
    func isEnded(_ session: Int) -> Bool { state.withLock { $0.ended.contains(session) } }
    func end(_ session: Int) { state.withLock { _ = $0.ended.insert(session) } }
    func revoke(_ credentials: Credentials) { state.withLock { _ = $0.revoked.insert(credentials.accessToken) } }
    func expireTokens() { state.withLock { $0.valid = [] } }

    func signIn(user: Int) -> Credentials {
        state.withLock { state in
            let session = state.users.count
            state.users[session] = user
            return state.issue(session)
        }
    }

    /// - Returns: Whether a refresh was waiting.
    func release(_ outcome: Outcome, at place: Int) -> Bool {
        let waiter = state.withLock { state in
            state.waiting.isEmpty ? nil : state.waiting.remove(at: place % state.waiting.count)
        }
        waiter?.resume(returning: outcome)
        return waiter != nil
    }

    func releaseAll() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiters { waiter.resume(returning: .success) }
    }

    func refresh(_ token: String) async throws -> Credentials {
        let outcome = await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume(returning: .success) }
        }
        let lost = TransportError(.connectionLost, message: "", wasSent: true)
        switch outcome {
        case .lostBefore: throw lost
        case .unavailable: throw APIError(DecodedError(status: 503))
        case .limited: throw APIError(DecodedError(status: 429))
        case .success, .lostAfter, .ended: break
        }
        let fresh = state.withLock { state -> Credentials? in
            guard let session = state.sessions[token] else { return nil }
            if outcome == .ended { state.ended.insert(session) }
            return state.ended.contains(session) ? nil : state.issue(session)
        }
        guard let fresh else { throw APIError(DecodedError(status: 401)) }
        if outcome == .lostAfter { throw lost }
        return fresh
    }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        await Task.yield()
        let call = HTTPField.Name("X-Call").flatMap { request.headerFields[$0] } ?? ""
        let token = request.headerFields[.authorization].map { String($0.dropFirst("Bearer ".count)) }
        let status = state.withLock { state in
            guard let token, let session = state.sessions[token], let user = state.users[session] else { return 200 }
            let known = state.usersOfCalls[call] ?? user
            state.usersOfCalls[call] = known
            if known != user { state.violations.append("call \(call) of user \(known) carried a token of user \(user)") }
            return state.valid.contains(token) && !state.ended.contains(session) ? 200 : 401
        }
        return (HTTPResponse(status: .init(code: status)), ResponseBody())
    }
}
