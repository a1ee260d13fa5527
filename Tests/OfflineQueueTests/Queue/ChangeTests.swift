import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

@testable import OfflineQueue

@Suite("Changes of queued requests", .timeLimit(.minutes(5))) struct ChangeTests {
    private let text = { (text: String) in RequestBody(Array(text.utf8), contentType: "text/plain") }

    @Test("Edits and cancels requests that were not sent, and preserves the order")
    func editsAndCancels() async throws {
        let bench = try await QueueBench()
        let ids = [try await bench.enqueue("1"), try await bench.enqueue("2"), try await bench.enqueue("3")]
        try await bench.queue.edit(ids[0], body: text("1b"))
        try await bench.queue.cancel(ids[1])
        let again = try await bench.restarted()
        #expect(try await again.queue.pending().map(\.id) == [ids[0], ids[2]])
        await again.drain()
        #expect(again.server.bodies == ["1b", "3"])
    }

    @Test("A call that is canceled before its request is stored fails as canceled")
    func canceledCall() async throws {
        let bench = try await QueueBench()
        let call = Task { [queue = bench.queue] in
            while !Task.isCancelled { await Task.yield() }
            return try await queue.send(.post, "/items", "1", options: .queued()) as QueueResult<Void>
        }
        call.cancel()
        let error = await #expect(throws: APIError.self) { _ = try await call.value }
        #expect(error?.kind == .cancelled && error?.attempts == 0)
        #expect(bench.queue.counts.pending == 0)
    }

    @Test("Refuses to edit, cancel or replace a request once an attempt began")
    func editDuringSend() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.requestLost)
        let id = try await bench.enqueue("1", coalescing: "draft")
        await bench.pass()
        await #expect { try await bench.queue.edit(id, body: text("2")) } throws: {
            if case QueueError.attemptBegan = $0 { true } else { false }
        }
        await #expect { try await bench.queue.cancel(id) } throws: {
            if case QueueError.attemptBegan = $0 { true } else { false }
        }
        let second = try await bench.enqueue("2", coalescing: "draft")
        #expect(second != id)
        bench.network.decide(.delivered)
        await bench.drain()
        #expect(bench.server.bodies == ["1", "2"])
    }

    @Test("Allows an edit after an attempt of which no byte left the device")
    func editAfterOffline() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.neverSent)
        let id = try await bench.enqueue("1")
        await bench.pass()
        try await bench.queue.edit(id, body: text("2"))
        bench.network.decide(.delivered)
        await bench.drain()
        #expect(bench.server.bodies == ["2"])
    }

    @Test("An edit changes the body of a request that replaces the edited one meanwhile")
    func editDuringReplacement() async throws {
        let cipher = InterruptingCipher()
        let bench = try await QueueBench { $0.cipher = cipher }
        let id = try await bench.enqueue("1", path: "/old", coalescing: "draft")
        let executor = SteppedExecutor()
        cipher.interrupt {
            Task(executorPreference: executor) {
                _ = try? await bench.enqueue("2", path: "/new", coalescing: "draft")
            }
            executor.drain()
        }
        try await bench.queue.edit(id, body: text("3"))
        await bench.drain()
        #expect(bench.server.performed.map { [$0.path, $0.body] } == [["/v1/new", "3"]])
    }

    @Test("Cancels a request whose attempt was recorded but not sent, because a sync failed")
    func cancelAfterFailedSync() async throws {
        let bench = try await QueueBench { options in
            options.journal.isMaintained = true
            options.journal.syncDelay = .seconds(600)
            options.limits.body = 8 * 1024 * 1024
        }
        // This process becomes the sender.
        bench.network.decide(.neverSent)
        try await bench.enqueue("1", lane: "a")
        await bench.queue.drain()
        // The unsynced bytes: a mark and the request. The next record exceeds 4 MiB, so it waits for a sync.
        let overhead = bench.queue.counts.bytes - 1
        try await bench.queue.journal.sync()
        let size = 4 * 1024 * 1024 - FrameFormat.markSize - overhead - 20
        let id = try await bench.enqueue(String(repeating: "x", count: size), lane: "b")
        // The sync fails, and then the rewrite of the file.
        bench.disk.state.withLock { $0.failingSyncs = 2 }
        bench.network.decide(.delivered)
        await bench.queue.drain()
        #expect(bench.disk.state.withLock(\.failingSyncs) == 0)
        #expect(bench.server.requests.isEmpty)
        let failure = bench.queue.takeWriteFailure()
        #expect(failure.map { "\($0)" } != nil)
        try await bench.queue.cancel(id)
        #expect(bench.queue.counts.pending == 1)
    }

    @Test("Replaces a pending request with the same coalescing key in the same lane")
    func coalescing() async throws {
        let bench = try await QueueBench()
        let first = try await bench.enqueue("1", coalescing: "profile")
        try await bench.enqueue("other")
        let second = try await bench.enqueue("2", coalescing: "profile")
        try await bench.enqueue("3", lane: "b", coalescing: "profile")
        #expect(first == second)
        let again = try await bench.restarted()
        #expect(again.queue.counts.pending == 3)
        try await again.enqueue("2b", coalescing: "profile")
        await again.drain()
        #expect(again.server.bodies.filter { $0 != "3" } == ["2b", "other"])
        #expect(again.server.bodies.contains("3"))
    }

    @Test("Replaces the last request with a coalescing key after an older one was put back")
    func coalescingAfterRetry() async throws {
        let isFixed = Mutex(false)
        let server = MutationServer { _, _ in isFixed.withLock(\.self) ? 200 : 422 }
        let bench = try await QueueBench(server: server)
        let first = try await bench.enqueue("1", coalescing: "profile")
        await bench.queue.drain()
        let second = try await bench.enqueue("2", coalescing: "profile")
        try await bench.queue.retry(first)
        let third = try await bench.enqueue("3", coalescing: "profile")
        #expect(third == second)
        isFixed.withLock { $0 = true }
        await bench.queue.drain()
        #expect(server.bodies == ["1", "3"])
    }

    @Test("Puts a dead letter back with a new key, in its old place")
    func retries() async throws {
        let isFixed = Mutex(false)
        let bench = try await QueueBench(
            server: MutationServer { _, body in body == "1" && !isFixed.withLock(\.self) ? 400 : 200 }
        )
        let id = try await bench.enqueue("1")
        await bench.drain()
        await #expect { try await bench.queue.retry(try await bench.enqueue("2")) } throws: {
            if case QueueError.notDeadLetter = $0 { true } else { false }
        }
        isFixed.withLock { $0 = true }
        try await bench.queue.retry(id)
        let again = try await bench.restarted()
        await again.drain()
        #expect(again.server.bodies == ["1", "2"])
    }

    @Test("Ignores the late result of an attempt that began before a retry")
    func lateResultAfterRetry() async throws {
        let bench = try await QueueBench()
        let isHeld = Mutex(true)
        defer { isHeld.withLock { $0 = false } }
        bench.network.decide { _, _ in
            while isHeld.withLock(\.self) { await Task.yield() }
            return .neverSent
        }
        let id = try await bench.enqueue("1")
        let late = Task { [queue = bench.queue] in await queue.drain() }
        let isSending = await becomesTrue { bench.queue.journal.withState { $0.attempts[id] != nil } }
        #expect(isSending)
        // Another process becomes the sender. The server refuses its attempt, and the user puts the dead letter back.
        await bench.queue.resign()
        let other = try await QueueBench(sharing: bench)
        let refusal = MutationServer.error(422, "VALIDATION_FAILED")
        other.network.decide(.response(422, refusal.headers, refusal.body))
        await other.queue.drain()
        try await other.queue.retry(id)
        other.network.decide(.requestLost)
        await other.queue.drain()
        isHeld.withLock { $0 = false }
        await late.value
        await #expect { try await other.queue.cancel(id) } throws: {
            if case QueueError.attemptBegan = $0 { true } else { false }
        }
    }

    @Test("Removes the delivered request even if an earlier one was removed meanwhile")
    func identifiers() async throws {
        let bench = try await QueueBench()
        let ids = [try await bench.enqueue("1"), try await bench.enqueue("2")]
        bench.network.decide { [bench] _, _ in
            // The first one disappears while the response is on its way.
            try? await bench.queue.remove(ids[0])
            bench.network.decide(.neverSent)
            return .delivered
        }
        await bench.pass()
        #expect(try await bench.queue.pending().map(\.id) == [ids[1]])
    }

    @Test("Stores a request of a canceled caller only if it returns an identifier")
    func canceledEnqueue() async throws {
        let bench = try await QueueBench()
        for round in 0..<50 {
            let task = Task { try await bench.enqueue("\(round)") }
            for _ in 0..<(round % 5) { await Task.yield() }
            task.cancel()
            let id = try? await task.value
            let pending = try await bench.queue.pending()
            #expect(pending.map(\.id) == (id.map { [$0] } ?? []))
            if let id { try await bench.queue.remove(id) }
        }
    }

    @Test("Returns the response of a request that can be sent now")
    func sendsNow() async throws {
        struct Item: Decodable, Sendable { var id: Int }
        let bench = try await QueueBench()
        let result: QueueResult<Item> = try await bench.queue.send(.post, "/items", ["a": 1], options: .queued(lane: "a"))
        guard case .response(let item) = result else {
            Issue.record("queued")
            return
        }
        #expect(item.id == 7)
        #expect(bench.queue.counts.pending == 0)
    }

    @Test("Returns the identifier of a request that can't be sent now, and sends it later")
    func sendsLater() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.neverSent)
        let result: QueueResult<Void> = try await bench.queue.send(.post, "/items", ["a": 1], options: .queued())
        guard case .queued(let id) = result else {
            Issue.record("sent")
            return
        }
        #expect(bench.queue.status(of: id) == .pending)
        bench.network.decide(.delivered)
        await bench.drain()
        #expect(bench.server.performed.count == 1)
    }

    @Test("Returns the identifier to a waiting caller when the app stops the drain")
    func stopsWhileWaiting() async throws {
        let bench = try await QueueBench()
        let isHeld = Mutex(true)
        defer { isHeld.withLock { $0 = false } }
        bench.network.decide { _, body in
            while body == "earlier", isHeld.withLock(\.self) { await Task.yield() }
            return .delivered
        }
        let earlier = try await bench.enqueue("earlier")
        let call = Task { [queue = bench.queue] in
            try await queue.send(.post, "/items", "1", options: .queued()) as QueueResult<Void>
        }
        let isSending = await becomesTrue { bench.queue.counts.pending == 2 && bench.queue.status(of: earlier) == .sending }
        #expect(isSending)
        bench.queue.stop()
        isHeld.withLock { $0 = false }
        guard case .queued(let id) = try await call.value else {
            Issue.record("the request was sent")
            return
        }
        #expect(bench.server.bodies == ["earlier"])
        #expect(bench.queue.status(of: id) == .pending)
        // The next drain sends again.
        await bench.queue.drain()
        #expect(bench.server.bodies == ["earlier", "\"1\""])
    }

    @Test("Throws the refusal to the caller that waits for it, and stores no dead letter")
    func refusedNow() async throws {
        let bench = try await QueueBench(server: MutationServer { _, _ in 422 })
        let error = await #expect(throws: APIError.self) {
            let _: QueueResult<Void> = try await bench.queue.send(.post, "/items", ["a": 1], options: .queued())
        }
        #expect(error?.status == 422)
        #expect(bench.queue.counts == QueueCounts(pending: 0, deadLetters: 0, bytes: 0, delivered: 0))
    }

    @Test("Reports a refusal although the caller is canceled before it is recorded")
    func refusedWhileCanceled() async throws {
        let bench = try await QueueBench(server: MutationServer { _, _ in 422 })
        // Another process has the lock of the journal while the refusal arrives.
        let lock = try MemoryFiles(bench.disk).open("/queue/lock", creating: true)
        bench.network.decide { _, _ in
            while (try? lock.lock()) != true { await Task.yield() }
            return .delivered
        }
        let call = Task { [queue = bench.queue] in
            try await queue.send(.post, "/items", "1", options: .queued()) as QueueResult<Void>
        }
        let isRefused = await becomesTrue { !bench.server.requests.isEmpty }
        #expect(isRefused)
        for _ in 0..<1_000 { await Task.yield() }
        call.cancel()
        for _ in 0..<1_000 { await Task.yield() }
        lock.unlock()
        let result = await call.result
        // On a slow machine, the queue has given up the lock. It then writes the end of the request at the next drain.
        await bench.drain()
        #expect(bench.queue.counts.pending == 0)
        #expect(bench.server.requests.count == 1)
        switch result {
        // The queue handled the refusal after the caller had returned.
        case .success: #expect(bench.queue.counts.deadLetters == 1)
        case .failure(let error):
            #expect((error as? APIError)?.status == 422)
            #expect(bench.queue.counts.deadLetters == 0)
        }
    }

    @Test("Does not send a refused request again if its removal can't be written")
    func refusedWhileDiskFails() async throws {
        let bench = try await QueueBench(server: MutationServer { _, _ in 422 })
        bench.network.decide { [bench] _, _ in
            bench.disk.fail(with: EIO)
            return .delivered
        }
        let error = await #expect(throws: APIError.self) {
            let _: QueueResult<Void> = try await bench.queue.send(.post, "/items", ["a": 1], options: .queued())
        }
        #expect(error?.status == 422)
        #expect(bench.queue.counts.pending == 1)
        bench.disk.fail(with: nil)
        await bench.drain()
        #expect(bench.server.requests.count == 1)
        #expect(bench.queue.counts == QueueCounts(pending: 0, deadLetters: 0, bytes: 0, delivered: 0))
    }

    /// Makes two calls with the same coalescing key while the lane is busy, so that the second call replaces the content of the first one.
    /// Requires that the first caller returns while the lane is still busy, and that the second caller gets the response.
    /// - Parameter check: Runs after both calls have begun.
    private func replaceCall(
        _ check: (QueueBench, Task<QueueResult<Void>, any Error>) async throws -> Void = { _, _ in }
    ) async throws {
        let bench = try await QueueBench()
        let isHeld = Mutex(true)
        defer { isHeld.withLock { $0 = false } }
        bench.network.decide { _, body in
            while body == "earlier", isHeld.withLock(\.self) { await Task.yield() }
            return .delivered
        }
        // The lane is busy, so the calls wait.
        try await bench.enqueue("earlier")
        let call = { @Sendable [queue = bench.queue] (body: String) async throws -> QueueResult<Void> in
            try await queue.send(.post, "/items", body, options: .queued(coalescingKey: "profile"))
        }
        let first = Task { try await call("1") }
        let isStored = await becomesTrue { bench.queue.counts.pending == 2 }
        #expect(isStored)
        let second = Task { try await call("2") }
        try await check(bench, first)
        guard case .queued = try await first.value else {
            Issue.record("the caller of the replaced content got a response")
            return
        }
        isHeld.withLock { $0 = false }
        guard case .response = try await second.value else {
            Issue.record("the caller of the new content got no response")
            return
        }
        #expect(bench.server.bodies == ["earlier", "\"2\""])
    }

    @Test("Returns the response to a caller whose request replaced that of a canceled one")
    func canceledCoalescedCaller() async throws {
        try await replaceCall { bench, first in
            let isReplaced = await becomesTrue {
                bench.queue.journal.withState { ledger in ledger.records.contains { $0.key.rawValue != $0.value.content } }
            }
            #expect(isReplaced)
            first.cancel()
        }
    }

    @Test("A caller whose content is replaced waits no longer")
    func replacedCaller() async throws { try await replaceCall() }

    @Test("Stores the dead letter of a request after an earlier call was not stored")
    func refusedAfterFullDisk() async throws {
        let bench = try await QueueBench(server: MutationServer { _, _ in 422 })
        bench.disk.leave(0)
        let error = await #expect(throws: APIError.self) {
            let _: QueueResult<Void> = try await bench.queue.send(.post, "/items", ["a": 1], options: .queued())
        }
        #expect(error?.code.rawValue == "OFFLINE_QUEUE_UNAVAILABLE")
        bench.disk.leave(.max)
        // The request gets the identifier that the failed call did not use.
        let id = try await bench.enqueue("1")
        await bench.queue.drain()
        #expect(try await bench.queue.deadLetters().map(\.id) == [id])
    }

    @Test("Stores only calls that opted in")
    func optIn() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.neverSent)
        let error = await #expect(throws: APIError.self) {
            let _: QueueResult<Void> = try await bench.queue.send(.post, "/items", ["a": 1])
        }
        #expect(error?.kind == .noInternet)
        #expect(bench.queue.counts.pending == 0)
    }

    @Test("Stores the calls of an endpoint that opted in")
    func endpointPolicy() async throws {
        var policies = EndpointPolicies()
        var policy = EndpointPolicy()
        policy.queueing = QueueingPolicy(lane: "items")
        policies.set(policy, for: "/items", method: .post)
        let bench = try await QueueBench(policies: policies)
        bench.network.decide(.neverSent)
        let result: QueueResult<Void> = try await bench.queue.send(.post, "/items", ["a": 1])
        guard case .queued = result else {
            Issue.record("sent")
            return
        }
        #expect(try await bench.queue.pending(lane: "items").count == 1)
    }
}

/// A placeholder for a cipher: changes nothing, and runs a closure before the next decryption.
private final class InterruptingCipher: QueueCipher {
    private let interruption = Mutex<(@Sendable () -> Void)?>(nil)

    func interrupt(with body: @escaping @Sendable () -> Void) { interruption.withLock { $0 = body } }

    func seal(_ plaintext: [UInt8], binding: [UInt8]) throws -> [UInt8] { plaintext }

    func open(_ ciphertext: [UInt8], binding: [UInt8]) throws -> [UInt8] {
        let body = interruption.withLock { interruption -> (@Sendable () -> Void)? in
            defer { interruption = nil }
            return interruption
        }
        body?()
        return ciphertext
    }
}
