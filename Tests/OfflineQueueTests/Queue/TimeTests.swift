import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import PrivateFiles
import RateLimiting
import ResilientHTTP
import Synchronization
import Testing

@testable import OfflineQueue

@Suite("Time, storage and observation of a queue", .timeLimit(.minutes(5))) struct TimeTests {
    @Test("Expires and repeats nothing when the wall clock is moved by a year", arguments: [365, -365])
    func clockSteps(days: Int) async throws {
        let bench = try await QueueBench()
        bench.network.decide(.responseLost)
        try await bench.enqueue("1")
        try await bench.enqueue("2")
        await bench.pass()
        bench.clocks.step(wall: .seconds(days * 86_400))
        bench.network.decide(.delivered)
        await bench.drain()
        #expect(bench.server.bodies == ["1", "2"])
        #expect(bench.queue.counts.deadLetters == 0)
    }

    @Test("Makes a started request a dead letter if a restart makes its age unknown")
    func reboot() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.responseLost)
        try await bench.enqueue("1")
        await bench.pass()
        bench.clocks.reboot()
        bench.clocks.step(wall: .seconds(-86_400))
        let again = try await bench.restarted()
        try await again.enqueue("2")
        await again.drain()
        #expect(again.server.bodies == ["1", "2"])
        #expect(again.server.requests.count == 2)
        #expect(again.queue.counts.deadLetters == 1)
    }

    @Test("Measures the age over a restart of the device by the wall clock")
    func rebootWithRightClock() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.responseLost)
        try await bench.enqueue("1")
        await bench.pass()
        bench.clocks.reboot()
        let again = try await bench.restarted()
        await again.drain()
        #expect(again.server.requests.count == 2)
        #expect(again.queue.counts.pending == 0 && again.queue.counts.deadLetters == 0)
    }

    @Test("Makes an expired request a dead letter and sends the next one")
    func expiry() async throws {
        let bench = try await QueueBench()
        try await bench.enqueue("1", lifetime: .seconds(60))
        try await bench.enqueue("2")
        let events = bench.queue.events
        bench.clocks.advance(by: .seconds(61))
        await bench.drain()
        #expect(bench.server.bodies == ["2"])
        var seen: [QueueEvent] = []
        for await event in events {
            seen.append(event)
            if case .delivered = event { break }
        }
        let expired = seen.contains { if case .expired = $0 { true } else { false } }
        #expect(expired)
    }

    @Test("Becomes the sender when the lease of a killed process has ended, not before")
    func lease() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.hangs)
        let id = try await bench.enqueue("1")
        let drain = Task { [queue = bench.queue] in await queue.drain() }
        #expect(await becomesTrue { bench.queue.status(of: id) == .sending })
        let other = try await QueueBench(sharing: bench)
        await other.queue.drain()
        #expect(other.server.requests.isEmpty)
        bench.kill()
        for _ in 0..<12 { await other.pass() }
        #expect(other.server.bodies == ["1"])
        bench.clocks.advance(by: .seconds(60))
        await drain.value
    }

    @Test("Gives up the role of the sender even if the task is canceled")
    func resignation() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.requestLost)
        try await bench.enqueue("1")
        await bench.queue.drain()
        let background = Task { [queue = bench.queue] in
            while !Task.isCancelled { await Task.yield() }
            await queue.resign()
        }
        background.cancel()
        await background.value
        let other = try await QueueBench(sharing: bench)
        await other.queue.drain()
        #expect(bench.server.bodies == ["1"])
    }

    @Test("A resignation does not rely on a change that was decided before its call")
    func resignationAfterEarlierChange() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.requestLost)
        try await bench.enqueue("1")
        await bench.queue.drain()
        // An earlier call whose change was decided before this process took the role again.
        let isHeld = Mutex(true)
        defer { isHeld.withLock { $0 = false } }
        let earlier = Task { [resignation = bench.queue.resignation] in
            _ = try await resignation.run(unless: { .join }) {
                while isHeld.withLock(\.self) { await Task.yield() }
                return 0
            }
        }
        #expect(await becomesTrue { bench.queue.resignation.waiting == 1 })
        let later = Task { [queue = bench.queue] in await queue.resign() }
        #expect(await becomesTrue { bench.queue.resignation.waiting == 2 })
        isHeld.withLock { $0 = false }
        try await earlier.value
        await later.value
        let other = try await QueueBench(sharing: bench)
        await other.queue.drain()
        #expect(bench.server.bodies == ["1"])
    }

    @Test("Does not take the role of the sender again while its last call ends")
    func resignationDuringCall() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.hangs)
        try await bench.enqueue("1")
        let drain = Task { [queue = bench.queue] in await queue.drain() }
        let renewal = Duration.seconds(5) / 3
        #expect(await becomesTrue { bench.clocks.clock.nextDeadline?.offset == renewal })
        bench.queue.stop()
        await bench.queue.resign()
        bench.clocks.advance(by: .seconds(2))
        #expect(await becomesTrue { bench.clocks.clock.nextDeadline?.offset == Duration.seconds(2) + renewal })
        let other = try await QueueBench(sharing: bench)
        await other.queue.drain()
        #expect(other.server.bodies == ["1"])
        bench.clocks.advance(by: .seconds(60))
        await drain.value
    }

    @Test("Shows what another process has stored, and sends it")
    func otherProcess() async throws {
        let bench = try await QueueBench()
        let appExtension = try await QueueBench(sharing: bench)
        let events = bench.queue.events
        let id = try await appExtension.enqueue("1")
        #expect(try await bench.queue.pending().count == 1)
        await bench.drain()
        #expect(bench.server.bodies == ["1"])
        #expect(try await appExtension.queue.pending().isEmpty)
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == .queued(id))
    }

    @Test("Returns no requests for a negative limit", arguments: [-1, .min])
    func negativeLimit(limit: Int) async throws {
        let bench = try await QueueBench(server: MutationServer { _, body in body == "bad" ? 422 : 200 })
        try await bench.enqueue("bad")
        await bench.queue.drain()
        try await bench.enqueue("1")
        #expect(bench.queue.counts.pending == 1 && bench.queue.counts.deadLetters == 1)
        #expect(try await bench.queue.pending(limit: limit).isEmpty)
        #expect(try await bench.queue.deadLetters(limit: limit).isEmpty)
    }

    @Test("Bounds the buffer of a slow subscriber and reports how many events it missed")
    func slowSubscriber() async throws {
        let bench = try await QueueBench()
        var iterator = bench.queue.events.makeAsyncIterator()
        var ids: [QueuedRequestID] = []
        for number in 1...300 { ids.append(try await bench.enqueue("\(number)")) }
        var events: [QueueEvent?] = []
        for _ in 1...256 { events.append(await iterator.next()) }
        #expect(events == ids.prefix(256).map { .queued($0) })
        #expect(await iterator.next() == .missed(44))
        let id = try await bench.enqueue("301")
        #expect(await iterator.next() == .queued(id))
    }

    @Test("Stores a delivery on a full disk and does not repeat the request after a restart")
    func fullDisk() async throws {
        let bench = try await QueueBench()
        try await bench.enqueue("1")
        bench.disk.leave(0)
        var stored = 1
        await #expect(throws: QueueError.self) {
            while true {
                try await bench.enqueue(String(repeating: "x", count: 100))
                stored += 1
            }
        }
        await bench.drain()
        let again = try await bench.restarted()
        await again.drain()
        #expect(again.queue.counts.pending == 0)
        #expect(again.server.requests.count == stored)
    }

    @Test("Throws on a locked device without a change, and sends after the unlock")
    func lockedDevice() async throws {
        let bench = try await QueueBench()
        try await bench.enqueue("1")
        bench.disk.fail(with: EPERM)
        await #expect(throws: QueueError.self) { try await bench.enqueue("2") }
        await bench.pass()
        bench.disk.fail(with: nil)
        await bench.drain()
        #expect(bench.server.bodies == ["1"])
    }

    @Test("Encrypts the content of requests, and sends nothing without the key")
    func encryption() async throws {
        let cipher = TestCipher()
        let bench = try await QueueBench { $0.cipher = cipher }
        try await bench.enqueue("a secret", path: "/secret-path")
        let bytes = bench.disk.state.withLock { state in state.files.values.flatMap(\.bytes) }
        #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
        cipher.isLocked.withLock { $0 = true }
        await bench.pass()
        #expect(bench.server.requests.isEmpty && bench.queue.counts.pending == 1)
        await #expect { try await bench.enqueue("2") } throws: {
            if case QueueError.locked = $0 { true } else { false }
        }
        cipher.isLocked.withLock { $0 = false }
        await bench.drain()
        #expect(bench.server.bodies == ["a secret"])
    }

    @Test("An expired request that can't be decrypted blocks its lane no longer")
    func expiryWithoutKey() async throws {
        let cipher = TestCipher()
        let bench = try await QueueBench { $0.cipher = cipher }
        let first = try await bench.enqueue("1", lifetime: .seconds(60))
        try await bench.enqueue("2")
        cipher.isLocked.withLock { $0 = true }
        bench.clocks.advance(by: .seconds(59))
        await bench.queue.drain()
        #expect(bench.queue.counts.deadLetters == 0)
        bench.clocks.advance(by: .seconds(60))
        await bench.queue.drain()
        #expect(bench.queue.counts.deadLetters == 1 && bench.queue.counts.pending == 1)
        guard case .deadLetter(let letter) = bench.queue.status(of: first) else {
            Issue.record("no dead letter")
            return
        }
        #expect(letter.reason == .expired)
        cipher.isLocked.withLock { $0 = false }
        await bench.drain()
        #expect(bench.server.bodies == ["2"])
    }
}

/// A placeholder for a cipher: flips bits, and requires the same binding.
private final class TestCipher: QueueCipher {
    struct Failure: Error {}

    let isLocked = Mutex(false)

    func seal(_ plaintext: [UInt8], binding: [UInt8]) throws -> [UInt8] {
        if isLocked.withLock(\.self) { throw Failure() }
        return [UInt8(binding.count)] + binding + plaintext.map { ~$0 }
    }

    func open(_ ciphertext: [UInt8], binding: [UInt8]) throws -> [UInt8] {
        let prefix = [UInt8(binding.count)] + binding
        guard !isLocked.withLock(\.self), ciphertext.starts(with: prefix) else { throw Failure() }
        return ciphertext.dropFirst(prefix.count).map { ~$0 }
    }
}
