import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import RateLimiting
import ResilientHTTP
import Synchronization
import Testing
import Timekeeping

@testable import OfflineQueue

/// The clocks of a device, which tests move.
final class DeviceClocks: Sendable {
    private let state = Mutex((wall: Int64(1_800_000_000_000), uptime: Int64(1_000_000), boot: 1))
    let clock = ManualClock()

    func read() -> SnapshotTime {
        let state = state.withLock(\.self)
        return SnapshotTime(
            wallNanoseconds: state.wall * 1_000_000,
            bootNanoseconds: state.uptime * 1_000_000,
            bootID: "boot \(state.boot)"
        )
    }

    /// Advances all clocks.
    func advance(by duration: Duration) {
        state.withLock { state in
            state.wall += duration.wholeMilliseconds
            state.uptime += duration.wholeMilliseconds
        }
        clock.advance(by: duration)
    }

    /// The attempts that have read the clock, and whose request is not in the network yet. Two processes may send one request at once, so
    /// that its idempotency key doesn't identify an attempt.
    private let starting = Mutex<Set<String>>([])

    /// Advances all clocks, unless an attempt is starting.
    ///
    /// An attempt compares its age with the clock, and then passes its request to the network. No program can notice that hours pass
    /// between these two steps, so a test of the queue doesn't let them pass there.
    /// - Returns: Whether the clocks were advanced.
    func advanceBetweenStarts(by duration: Duration) -> Bool {
        starting.withLock { starting in
            if starting.isEmpty { advance(by: duration) }
            return starting.isEmpty
        }
    }

    func noteStart(of attempt: String) { starting.withLock { _ = $0.insert(attempt) } }
    func noteSent(_ attempt: String) { starting.withLock { _ = $0.remove(attempt) } }

    /// Moves the wall clock, as a user or a time server does.
    func step(wall: Duration) { state.withLock { $0.wall += wall.wholeMilliseconds } }

    /// Restarts the device: the clock that runs from the boot on begins at zero again.
    func reboot() { state.withLock { ($0.uptime, $0.boot) = (1_000, $0.boot + 1) } }
}

/// One process with a queue, for tests.
final class QueueBench: Sendable {
    let clocks: DeviceClocks
    let disk: MemoryDisk
    let files: MemoryFiles
    let server: MutationServer
    let network: Network
    let session: Session
    let queue: OfflineQueue
    let prompts: Prompts

    /// - Parameters:
    ///   - sharing: A process whose device, disk and server this one uses.
    ///   - base: The base URL of the client.
    ///   - account: The account that is signed in.
    init(
        sharing other: QueueBench? = nil,
        server: MutationServer? = nil,
        base: String = "https://api.example.org/v1",
        account: String? = "A",
        store: (any CredentialStore)? = nil,
        prompting: Bool = false,
        policies: EndpointPolicies = EndpointPolicies(),
        coding: JSONCoding = .standard,
        serverTextLanguage: Language? = nil,
        middleware: [any ClientMiddleware]? = nil,
        connectivity: Connectivity? = nil,
        change: (inout OfflineQueue.Options) -> Void = { _ in }
    ) async throws {
        let clocks = other?.clocks ?? DeviceClocks()
        self.clocks = clocks
        disk = other?.disk ?? MemoryDisk()
        files = MemoryFiles(disk)
        let monotonic = MonotonicClock(clocks.clock)
        let server = other?.server ?? server ?? MutationServer(now: { clocks.clock.now.offset })
        self.server = server
        network = Network(server, clock: monotonic) { clocks.noteSent($0) }
        let environment = ClientEnvironment(
            clock: monotonic,
            wallClock: { Date(timeIntervalSince1970: Double(clocks.read().wallNanoseconds) / 1e9) },
            chance: { 1 },
            connectivity: connectivity
        )
        let prompts = Prompts()
        self.prompts = prompts
        let store = store ?? MemoryCredentialStore(account.map { server.credentials(for: $0) })
        session = Session(
            store: store,
            environment: environment,
            refresh: { token in server.credentials(for: String(token.prefix { $0 != ":" })) },
            prompt: prompting ? { @Sendable in prompts.ask(server) } : nil
        )
        // Notes the begin of each attempt, for `advanceBetweenStarts(by:)`. It belongs inside of the retries.
        let starts = ClosureMiddleware { request, body, next in
            let attempt = UUID().uuidString
            var request = request
            request.headerFields[.testAttempt] = attempt
            clocks.noteStart(of: attempt)
            defer { clocks.noteSent(attempt) }
            return try await next(request, body)
        }
        var client = APIClient(
            baseURL: try #require(URL(string: base)),
            transport: network,
            session: session,
            policies: policies,
            coding: coding,
            middleware: (middleware ?? [RetryMiddleware(.never)]) + [starts],
            environment: environment
        )
        client.serverTextLanguage = serverTextLanguage
        var options = OfflineQueue.Options()
        options.time = { clocks.read() }
        options.files = files
        options.journal.isMaintained = false
        options.journal.reserve = 4_096
        options.journal.growth = 4_096
        options.backoff = Backoff(base: .seconds(1), cap: .seconds(60))
        change(&options)
        queue = try await OfflineQueue.open(URL(filePath: "/queue"), client: client, options: options)
    }

    /// Starts the process again after a kill, with the session in the store.
    func restarted(account: String? = "A", change: (inout OfflineQueue.Options) -> Void = { _ in }) async throws -> QueueBench {
        kill()
        return try await QueueBench(sharing: self, account: account, change: change)
    }

    func kill() {
        network.kill()
        files.kill()
    }

    func signIn(_ account: String?) async throws {
        try await session.setCredentials(account.map { server.credentials(for: $0) })
    }

    /// Stores a mutation whose body is a text.
    @discardableResult
    func enqueue(
        _ text: String,
        lane: String = "default",
        path: String = "/items",
        coalescing key: String? = nil,
        lifetime: Duration? = nil
    ) async throws -> QueuedRequestID {
        try await queue.enqueue(
            .post,
            path,
            body: RequestBody(Array(text.utf8), contentType: "text/plain"),
            options: .queued(lane: lane, lifetime: lifetime, coalescingKey: key)
        )
    }

    /// Drains while time passes, until nothing is pending or some time has passed.
    func drain(for limit: Duration = .seconds(600), step: Duration = .milliseconds(500)) async {
        let end = clocks.clock.now.offset + limit
        while queue.counts.pending > 0, clocks.clock.now.offset < end { await pass(step) }
    }

    /// Drains once while the clock advances.
    func pass(_ step: Duration = .milliseconds(500)) async {
        let ended = Mutex(false)
        let drain = Task { [queue] in
            await queue.drain()
            ended.withLock { $0 = true }
        }
        // The clock must not run faster than a busy machine runs tasks: calls would time out.
        var rounds = 0
        while !ended.withLock(\.self) {
            if Task.isCancelled { drain.cancel() }
            for _ in 0..<50 where !ended.withLock(\.self) { await Task.yield() }
            rounds += 1
            if rounds > 4, !ended.withLock(\.self) {
                try? await Task.sleep(for: .milliseconds(1))
                clocks.advance(by: step)
            }
        }
        await drain.value
        clocks.advance(by: step)
    }
}

/// Waits for a condition until the time limit of the test.
func becomesTrue(_ condition: () async throws -> Bool) async rethrows -> Bool {
    for _ in 0..<200_000 {
        if try await condition() { return true }
        await Task.yield()
    }
    while !Task.isCancelled {
        if try await condition() { return true }
        try? await Task.sleep(for: .milliseconds(10))
    }
    return false
}

/// Counts the prompts to sign in.
final class Prompts: Sendable {
    let count = Mutex(0)

    func ask(_ server: MutationServer) -> Credentials? {
        count.withLock { $0 += 1 }
        return server.credentials(for: "B")
    }
}

extension HTTPField.Name {
    /// Identifies an attempt to the network of a test.
    static let testAttempt = HTTPField.Name("X-Test-Attempt") ?? .userAgent
}
