import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

@testable import OfflineQueue

@Suite("Accounts of queued requests", .timeLimit(.minutes(5))) struct OwnershipTests {
    @Test("Pauses when the user signs out, and sends when the same account signs in again")
    func signOut() async throws {
        let bench = try await QueueBench()
        try await bench.enqueue("1")
        try await bench.signIn(nil)
        await bench.pass()
        #expect(bench.server.requests.isEmpty)
        #expect(try await bench.queue.pending().first?.status == .paused(.signedOut))
        try await bench.signIn("B")
        await bench.pass()
        #expect(bench.server.requests.isEmpty)
        #expect(try await bench.queue.pending().first?.status == .paused(.otherAccount))
        try await bench.signIn("A")
        await bench.drain()
        #expect(bench.server.performed.map(\.account) == ["A"])
    }

    @Test("Stores no authorized request without a signed-in account")
    func noIdentity() async throws {
        let bench = try await QueueBench(account: nil)
        await #expect { try await bench.enqueue("1") } throws: {
            if case QueueError.noIdentity = $0 { true } else { false }
        }
        #expect(bench.queue.counts.pending == 0)
    }

    @Test("Reports unreadable credentials as locked, and not as a missing sign-in")
    func unreadableIdentity() async throws {
        let bench = try await QueueBench(store: LockedStore())
        await #expect { try await bench.enqueue("1") } throws: {
            if case QueueError.locked = $0 { true } else { false }
        }
        #expect(bench.queue.counts.pending == 0)
    }

    @Test("Sends a request that was stored without an account without any token")
    func anonymous() async throws {
        var policies = EndpointPolicies()
        policies.set(EndpointPolicy(isAuthorized: false), for: "/items", method: .post)
        let bench = try await QueueBench(account: nil, policies: policies)
        try await bench.enqueue("1")
        // A later version of the app sends a token to this endpoint.
        let later = try await bench.restarted(account: "B")
        await later.drain()
        #expect(later.server.performed.map(\.account) == [nil])
    }

    @Test("Stores no request of an operation that issues or takes credentials")
    func credentialEndpoints() async throws {
        let bench = try await QueueBench()
        for path in ["/api/auth/login", "/api/auth/refresh", "/api/auth/register", "/api/confirm-password-reset/?a=1"] {
            await #expect { try await bench.enqueue("1", path: path) } throws: {
                if case QueueError.carriesCredentials = $0 { true } else { false }
            }
        }
    }

    @Test("Recognizes credential paths that are encoded or partly in the base URL")
    func writtenDifferently() async throws {
        let calls = [
            ("https://api.example.org", "/api/%61uth/login"), ("https://api.example.org", "/api/auth%2Flogin"),
            ("https://api.example.org", "/api/confirm-password-reset?a=1"), ("https://api.example.org/api", "/auth/login"),
            ("https://api.example.org/v1/api/", "/request-password-reset/"), ("https://api.example.org/api/auth", "/refresh"),
        ]
        for (base, path) in calls {
            let bench = try await QueueBench(base: base)
            await #expect { try await bench.enqueue("1", path: path) } throws: {
                if case QueueError.carriesCredentials = $0 { true } else { false }
            }
        }
        let bench = try await QueueBench(base: "https://api.example.org/api")
        try await bench.enqueue("1", path: "/auth/me")
        #expect(bench.queue.counts.pending == 1)
    }

    @Test("Never sends a request with the token of a user who signs in during a refresh")
    func signInDuringRenewal() async throws {
        let bench = try await QueueBench(prompting: true)
        try await bench.enqueue("1")
        bench.server.expireTokens()
        bench.network.decide { [bench] _, _ in
            // The app signs B in while the first attempt is at the server.
            try? await bench.signIn("B")
            return .delivered
        }
        await bench.pass()
        bench.network.decide(.delivered)
        await bench.pass()
        #expect(bench.server.performed.isEmpty)
        #expect(bench.queue.counts.pending == 1)
        try await bench.signIn("A")
        await bench.drain()
        #expect(bench.server.performed.map(\.account) == ["A"])
        #expect(bench.prompts.count.withLock(\.self) == 0)
    }

    @Test("Pauses without a prompt and deletes nothing if the credentials can't be renewed")
    func unauthorized() async throws {
        let bench = try await QueueBench(prompting: true)
        let refusal = MutationServer.error(401, "AUTH_SESSION_REVOKED")
        bench.network.decide(.response(401, refusal.headers, refusal.body))
        try await bench.enqueue("1")
        for _ in 0..<3 { await bench.pass() }
        #expect(bench.queue.counts == QueueCounts(pending: 1, deadLetters: 0, bytes: bench.queue.counts.bytes, delivered: 0))
        #expect(try await bench.queue.pending().first?.status == .paused(.unauthorized))
        #expect(bench.prompts.count.withLock(\.self) == 0)
        #expect(try await bench.session.identity == "A")
        bench.network.decide(.delivered)
        try await bench.signIn("A")
        await bench.drain()
        #expect(bench.server.bodies == ["1"])
    }

    @Test("Delays a request without an account after a 401")
    func unauthorizedWithoutAccount() async throws {
        var policies = EndpointPolicies()
        policies.set(EndpointPolicy(isAuthorized: false), for: "/items", method: .post)
        let bench = try await QueueBench(account: nil, policies: policies)
        let refusal = MutationServer.error(401, "AUTH_SESSION_REVOKED")
        let sent = Mutex(0)
        bench.network.decide { [bench] _, _ in
            let count = sent.withLock { sent in
                sent += 1
                return sent
            }
            // Ends a drain that would send the request forever.
            if count == 10 { bench.queue.stop() }
            return .response(401, refusal.headers, refusal.body)
        }
        try await bench.enqueue("1")
        await bench.queue.drain()
        #expect(sent.withLock(\.self) == 1)
        #expect(bench.queue.counts.pending == 1)
        bench.network.decide(.delivered)
        await bench.drain()
        #expect(bench.server.bodies == ["1"])
    }

    @Test("Checks the account again after another process replaced the credentials")
    func sharedStore() async throws {
        let server = MutationServer()
        let store = MemoryCredentialStore(server.credentials(for: "A"))
        let bench = try await QueueBench(server: server, store: store)
        try await bench.enqueue("1")
        // Another process signs B in. This process notices when its token is refused.
        await store.save(server.credentials(for: "B"))
        server.state.withLock { _ = $0.revoked.insert("A:1") }
        await bench.pass()
        await bench.pass()
        #expect(server.performed.isEmpty)
        #expect(bench.queue.counts.pending == 1)
    }

    @Test("Removes only the requests of the signed-out account if the app opted in")
    func discardsOnSignOut() async throws {
        let bench = try await QueueBench { $0.discardsOnSignOut = true }
        try await bench.enqueue("A1")
        try await bench.signIn("B")
        #expect(bench.queue.counts.pending == 0)
        try await bench.enqueue("B1")
        try await bench.signIn("B")
        #expect(bench.queue.counts.pending == 1)
    }

    @Test("Credentials without a user only pause the requests of the account")
    func unknownUser() async throws {
        let bench = try await QueueBench { $0.discardsOnSignOut = true }
        try await bench.enqueue("A1")
        var unknown = bench.server.credentials(for: "A")
        unknown.userID = nil
        try await bench.session.setCredentials(unknown)
        await bench.drain()
        #expect(bench.server.bodies.isEmpty && bench.queue.counts.pending == 1)
        try await bench.signIn("A")
        await bench.drain()
        #expect(bench.server.bodies == ["A1"])
    }

    @Test("Removes the requests of a signed-out account although the store failed")
    func discardsAfterStoreFailure() async throws {
        let server = MutationServer()
        let store = FailingStore(server.credentials(for: "A"))
        let bench = try await QueueBench(server: server, store: store) { $0.discardsOnSignOut = true }
        try await bench.enqueue("A1")
        store.fails.withLock { $0 = true }
        await #expect(throws: FailingStore.Failure.self) { try await bench.signIn(nil) }
        store.fails.withLock { $0 = false }
        try await bench.signIn(nil)
        #expect(bench.queue.counts.pending == 0)
    }

    @Test("A repeated removal keeps requests that were stored after the next sign-in")
    func discardsOnlyEarlierRequests() async throws {
        let bench = try await QueueBench { $0.discardsOnSignOut = true }
        try await bench.enqueue("A1")
        let changed = try await bench.enqueue("A2", coalescing: "draft")
        // A canceled task writes nothing to the journal, so the removal fails.
        let signOut = Task {
            while !Task.isCancelled { await Task.yield() }
            try await bench.signIn(nil)
        }
        signOut.cancel()
        try await signOut.value
        #expect(bench.queue.counts.pending == 2)
        try await bench.signIn("A")
        #expect(try await bench.enqueue("A3", coalescing: "draft") == changed)
        try await bench.enqueue("A4")
        await bench.drain()
        #expect(bench.server.bodies == ["A3", "A4"])
        #expect(bench.queue.counts.pending == 0)
    }

    @Test("Ends a call whose owner is discarded, and does not send the request again")
    func discardDuringSend() async throws {
        let bench = try await QueueBench(middleware: [RetryMiddleware(RetryPolicy(maximumRetries: 5))])
        bench.network.decide { [bench] _, _ in
            try? await bench.queue.discard(owner: QueueOwner(server: "https://api.example.org/v1", account: "A"))
            return .requestLost
        }
        try await bench.enqueue("1")
        await bench.drain()
        bench.network.decide(.delivered)
        await bench.pass()
        #expect(bench.server.requests.isEmpty)
        #expect(bench.queue.counts.pending == 0)
    }

    @Test("Has requests to send unless they wait for a sign-in or belong to another server")
    func requestsToSendOfAccounts() async throws {
        let bench = try await QueueBench()
        #expect(!bench.queue.hasRequestsToSend)
        bench.network.decide(.neverSent)
        try await bench.enqueue("1")
        await bench.queue.drain()
        #expect(bench.queue.hasRequestsToSend, "the lane waits only for the end of its delay")
        try await bench.signIn(nil)
        #expect(!bench.queue.hasRequestsToSend)
        try await bench.signIn("B")
        #expect(!bench.queue.hasRequestsToSend)
        try await bench.signIn("A")
        #expect(bench.queue.hasRequestsToSend)
        let refusal = MutationServer.error(401, "AUTH_SESSION_REVOKED")
        bench.network.decide(.response(401, refusal.headers, refusal.body))
        bench.clocks.advance(by: .seconds(60))
        for _ in 0..<3 { await bench.pass() }
        #expect(try await bench.queue.pending().first?.status == .paused(.unauthorized))
        #expect(!bench.queue.hasRequestsToSend)
        bench.queue.wake()
        #expect(bench.queue.hasRequestsToSend)
        let other = try await QueueBench(sharing: bench, base: "https://other.example.org/v1")
        #expect(other.queue.counts.pending == 1 && !other.queue.hasRequestsToSend)
    }

    @Test("Has requests to send if the credentials of their account can't be read now")
    func requestsToSendOfUnknownAccount() async throws {
        let bench = try await QueueBench()
        try await bench.enqueue("1")
        let locked = try await QueueBench(sharing: bench, store: LockedStore())
        await locked.queue.drain()
        #expect(locked.server.requests.isEmpty)
        #expect(locked.queue.hasRequestsToSend)
    }

    @Test("Has no requests to send while their lane is stopped at a dead letter")
    func requestsToSendOfStoppedLane() async throws {
        let server = MutationServer { _, body in body == "bad" ? 422 : 200 }
        let bench = try await QueueBench(server: server) { $0.lanePolicies = ["dependent": .stopsOnFailure] }
        let bad = try await bench.enqueue("bad", lane: "dependent")
        try await bench.enqueue("next", lane: "dependent")
        #expect(bench.queue.hasRequestsToSend)
        await bench.queue.drain()
        #expect(bench.queue.counts.pending == 1 && !bench.queue.hasRequestsToSend)
        try await bench.queue.remove(bad)
        #expect(bench.queue.hasRequestsToSend)
    }

    @Test("Fails at the limit of an account without removing a request")
    func limits() async throws {
        let bench = try await QueueBench { $0.limits.count = 3 }
        bench.network.decide(.neverSent)
        for number in 1...3 { try await bench.enqueue("\(number)") }
        await #expect { try await bench.enqueue("4") } throws: {
            if case QueueError.full(.count) = $0 { true } else { false }
        }
        try await bench.signIn("B")
        try await bench.enqueue("5")
        #expect(bench.queue.counts.pending == 4)

        let small = try await QueueBench { $0.limits.bytes = 1_000 }
        try await small.enqueue(String(repeating: "x", count: 500))
        await #expect { try await small.enqueue(String(repeating: "x", count: 500)) } throws: {
            if case QueueError.full(.bytes) = $0 { true } else { false }
        }
        let tiny = try await QueueBench { $0.limits.body = 10 }
        await #expect { try await tiny.enqueue(String(repeating: "x", count: 11)) } throws: {
            if case QueueError.unsuitableBody = $0 { true } else { false }
        }
    }
}

/// A credential store before the first unlock of the device.
private struct LockedStore: CredentialStore {
    struct Failure: Error {}

    func load() async throws -> Credentials? { throw Failure() }
    func save(_ credentials: Credentials?) async throws { throw Failure() }
}

/// Stores credentials in memory. While `fails` is set, its writes fail.
private final class FailingStore: CredentialStore {
    struct Failure: Error {}

    let fails = Mutex(false)
    private let memory: MemoryCredentialStore

    init(_ credentials: Credentials) { memory = MemoryCredentialStore(credentials) }

    func load() async -> Credentials? { await memory.load() }

    func save(_ credentials: Credentials?) async throws {
        if fails.withLock(\.self) { throw Failure() }
        await memory.save(credentials)
    }
}
