import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Synchronization
import Testing

@testable import OfflineQueue

@Suite("Sending of queued requests", .timeLimit(.minutes(5))) struct SendingTests {
    @Test("Sends stored requests once, in order, with token, key and time of creation")
    func sends() async throws {
        let bench = try await QueueBench()
        for number in 1...5 { try await bench.enqueue("\(number)") }
        await bench.drain()
        #expect(bench.server.bodies == ["1", "2", "3", "4", "5"])
        #expect(Set(bench.server.performed.map(\.key)).count == 5)
        #expect(bench.server.performed.allSatisfy { $0.account == "A" && $0.path == "/v1/items" })
        let headers = try #require(bench.server.requests.first?.headers)
        #expect(headers[.queuedAt] == "Fri, 15 Jan 2027 08:00:00 GMT")
        #expect(headers[.contentType] == "text/plain")
        #expect(bench.queue.counts == QueueCounts(pending: 0, deadLetters: 0, bytes: 0, delivered: 5))
    }

    @Test("Sends a request again with the same key after a lost response and a restart")
    func lostResponse() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.responseLost)
        try await bench.enqueue("1")
        await bench.pass()
        let again = try await bench.restarted()
        await again.drain()
        #expect(again.server.bodies == ["1"])
        #expect(again.server.requests.count == 2)
        #expect(Set(again.server.requests.map { $0.headers[.idempotencyKey] }).count == 1)
        #expect(again.queue.counts.pending == 0)
    }

    @Test("Returns a response only after the delivery is written")
    func responseAfterEntry() async throws {
        // The wait for the lock must not end if the machine pauses.
        let bench = try await QueueBench { $0.journal.lockTimeout = .seconds(600) }
        // Another process has the lock of the journal while the response arrives.
        let lock = try MemoryFiles(bench.disk).open("/queue/lock", creating: true)
        bench.network.decide { _, _ in
            while (try? lock.lock()) != true, !Task.isCancelled { await Task.yield() }
            return .delivered
        }
        let returned = Mutex(false)
        let call = Task { [queue = bench.queue] in
            defer { returned.withLock { $0 = true } }
            return try await queue.send(.post, "/items", "1", options: .queued()) as QueueResult<Void>
        }
        let isPerformed = await becomesTrue { bench.server.bodies == ["\"1\""] }
        #expect(isPerformed)
        for _ in 0..<1_000 { await Task.yield() }
        #expect(returned.withLock { !$0 })
        #expect(bench.queue.counts.pending == 1)
        lock.unlock()
        // The journal tries the lock again every millisecond. The deadline of the call is far away.
        while !returned.withLock({ $0 }) {
            bench.clocks.advance(by: .milliseconds(1))
            try await Task.sleep(for: .milliseconds(1))
        }
        guard case .response = try await call.value else {
            Issue.record("the request is still stored")
            return
        }
        #expect(bench.queue.counts == QueueCounts(pending: 0, deadLetters: 0, bytes: 0, delivered: 1))
    }

    @Test("Moves a refused request to the dead letters and sends the next one at once")
    func deadLetter() async throws {
        let server = MutationServer { _, body in body == "bad" ? 422 : 200 }
        let bench = try await QueueBench(server: server)
        let bad = try await bench.enqueue("bad")
        try await bench.enqueue("good")
        let begin = bench.clocks.clock.now
        await bench.queue.drain()
        #expect(bench.clocks.clock.now == begin)
        #expect(server.bodies == ["good"])
        let letters = try await bench.queue.deadLetters()
        #expect(letters.map(\.id) == [bad])
        guard case .deadLetter(let letter) = letters.first?.status else {
            Issue.record("no dead letter")
            return
        }
        #expect(letter.reason == .refused)
        #expect(letter.error?.status == 422)
        #expect(letter.error?.code.rawValue == "VALIDATION_FAILED")
        #expect(letter.error?.message == "No.")
    }

    @Test("The error of a dead letter has the coding and the text language of the client")
    func deadLetterOfClient() async throws {
        struct Shortage: Decodable { var missingAmount: Int }
        let bench = try await QueueBench(coding: .snakeCase, serverTextLanguage: .spanish)
        let body = #"{"error":{"code":"SALDO","message":"Falta saldo.","details":{"missing_amount":7}}}"#
        bench.network.decide(.response(422, [.contentType: "application/json"], body))
        try await bench.enqueue("1")
        await bench.queue.drain()
        guard case .deadLetter(let letter) = try await bench.queue.deadLetters().first?.status else {
            Issue.record("no dead letter")
            return
        }
        #expect(letter.error?.presentation(in: .spanish, now: letter.date).message == "Falta saldo.")
        #expect(try letter.error?.details(as: Shortage.self).missingAmount == 7)
    }

    @Test("Stops a lane at a dead letter until the letter is put back or removed")
    func stopsOnFailure() async throws {
        let isFixed = Mutex(false)
        let server = MutationServer { _, body in body == "bad" && !isFixed.withLock(\.self) ? 422 : 200 }
        let bench = try await QueueBench(server: server) { $0.lanePolicies = ["dependent": .stopsOnFailure] }
        let bad = try await bench.enqueue("bad", lane: "dependent")
        try await bench.enqueue("next", lane: "dependent")
        try await bench.enqueue("other")
        await bench.queue.drain()
        #expect(server.bodies == ["other"])
        isFixed.withLock { $0 = true }
        try await bench.queue.retry(bad)
        await bench.queue.drain()
        #expect(server.bodies == ["other", "bad", "next"])
    }

    @Test(
        "Retries after a captive portal, a redirect or a sign-in page of a network",
        arguments: [200, 302, 403, 404, 511]
    )
    func captivePortal(status: Int) async throws {
        let bench = try await QueueBench()
        bench.network.decide(.response(status, [.contentType: "text/html"], "<html><body>Sign in to this network</body></html>"))
        try await bench.enqueue("1")
        for _ in 0..<20 {
            await bench.pass()
            bench.clocks.advance(by: .seconds(60))
        }
        #expect(bench.queue.counts.pending == 1 && bench.queue.counts.deadLetters == 0)
        bench.network.decide(.delivered)
        await bench.drain()
        #expect(bench.server.bodies == ["1"])
    }

    @Test("Waits while the server runs the first attempt, and counts a finished one")
    func conflicts() async throws {
        let bench = try await QueueBench()
        let running = MutationServer.error(409, "REQUEST_CONFLICT")
        bench.network.decide(.response(409, [.contentType: "application/json", .retryAfter: "3"], running.body))
        try await bench.enqueue("1")
        await bench.pass(.milliseconds(100))
        #expect(bench.queue.counts.pending == 1)
        let finished = MutationServer.error(409, "REQUEST_CONFLICT", #","details":{"state":"finished"}"#)
        bench.network.decide(.response(409, finished.headers, finished.body))
        await bench.drain()
        #expect(bench.queue.counts == QueueCounts(pending: 0, deadLetters: 0, bytes: 0, delivered: 1))

        let reused = MutationServer.error(422, "REQUEST_KEY_REUSED")
        bench.network.decide(.response(422, reused.headers, reused.body))
        try await bench.enqueue("2")
        await bench.drain()
        #expect(bench.queue.counts.deadLetters == 1)
    }

    @Test("Makes a request with an unknown outcome a dead letter after 23 hours")
    func keyLifetime() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.responseLost)
        try await bench.enqueue("1")
        await bench.pass()
        bench.clocks.advance(by: .seconds(23 * 3_600))
        bench.network.decide(.delivered)
        await bench.drain()
        #expect(bench.server.requests.count == 1)
        let letter = try await bench.queue.deadLetters().first
        guard case .deadLetter(let reason) = letter?.status else {
            Issue.record("no dead letter")
            return
        }
        #expect(reason.reason == .unknownOutcome && reason.error?.kind == .unknownOutcome)
    }

    @Test("Sends a request with an old key if the server surely did not perform it")
    func refusedBefore() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.response(503, [.retryAfter: "1"]))
        try await bench.enqueue("1")
        await bench.pass()
        bench.clocks.advance(by: .seconds(30 * 3_600))
        bench.network.decide(.delivered)
        await bench.drain()
        #expect(bench.server.bodies == ["1"])
    }

    @Test("Makes a request a dead letter after too many server failures")
    func poison() async throws {
        let bench = try await QueueBench { $0.limits.failures = 3 }
        let failure = MutationServer.error(500, "SERVER_ERROR")
        bench.network.decide { _, body in body == "bad" ? .response(500, failure.headers, failure.body) : .delivered }
        try await bench.enqueue("bad")
        try await bench.enqueue("good")
        await bench.drain()
        #expect(bench.server.bodies == ["good"])
        guard case .deadLetter(let letter) = try await bench.queue.deadLetters().first?.status else {
            Issue.record("no dead letter")
            return
        }
        #expect(letter.reason == .failedRepeatedly)
    }

    /// Returns the reason and the error of the first dead letter.
    private func firstLetter(_ bench: QueueBench) async throws -> DeadLetter? {
        guard case .deadLetter(let letter) = try await bench.queue.deadLetters().first?.status else { return nil }
        return letter
    }

    @Test("A 303 to an address of the server delays no other request", arguments: ["/v1/items/7", "https://api.example.org/7"])
    func seeOther(location: String) async throws {
        let bench = try await QueueBench()
        bench.network.decide { _, body in body == "1" ? .response(303, [.location: location]) : .delivered }
        try await bench.enqueue("1")
        try await bench.enqueue("2")
        let begin = bench.clocks.clock.now
        await bench.queue.drain()
        #expect(bench.clocks.clock.now == begin && bench.server.bodies == ["2"])
        let letter = try await firstLetter(bench)
        #expect(letter?.reason == .unknownOutcome && letter?.error?.status == 303)
    }

    @Test("Makes a request that the server redirects too often a dead letter", arguments: [301, 302, 307, 308])
    func ownRedirect(status: Int) async throws {
        let bench = try await QueueBench { $0.limits.failures = 3 }
        let redirect = Network.Fate.response(status, [.location: "/login", .contentType: "text/html"], "<html>Moved</html>")
        bench.network.decide { _, body in body == "1" ? redirect : .delivered }
        try await bench.enqueue("1")
        try await bench.enqueue("2")
        await bench.drain()
        #expect(bench.server.bodies == ["2"])
        #expect(try await firstLetter(bench)?.reason == .failedRepeatedly)
    }

    @Test("Retries while a network redirects to another origin", arguments: [302, 303, 307])
    func foreignRedirect(status: Int) async throws {
        let bench = try await QueueBench { $0.limits.failures = 3 }
        bench.network.decide(.response(status, [.location: "https://portal.example.net/login"]))
        try await bench.enqueue("1")
        for _ in 0..<10 {
            await bench.pass()
            bench.clocks.advance(by: .seconds(60))
        }
        #expect(bench.queue.counts.pending == 1)
        bench.network.decide(.delivered)
        await bench.drain()
        #expect(bench.server.bodies == ["1"])
    }

    @Test("Backs off per lane: a lane that fails does not delay another")
    func lanes() async throws {
        let bench = try await QueueBench()
        bench.network.decide { _, body in body.hasPrefix("a") ? .requestLost : .delivered }
        try await bench.enqueue("a1", lane: "a")
        for number in 1...3 { try await bench.enqueue("b\(number)", lane: "b") }
        await bench.queue.drain()
        #expect(bench.server.bodies == ["b1", "b2", "b3"])
        await bench.queue.drain()
        #expect(bench.queue.counts.pending == 1)
    }

    @Test("Sends one request per window to an endpoint that responds with 429")
    func limits() async throws {
        let bench = try await QueueBench(middleware: [RetryMiddleware(.never), GateMiddleware()])
        let sent = Mutex(0)
        bench.network.decide { _, _ in
            sent.withLock { $0 += 1 }
            return .response(429, [.retryAfter: "30", .contentType: "application/json"], "{}")
        }
        for lane in 1...4 { try await bench.enqueue("\(lane)", lane: "\(lane)") }
        await bench.pass(.milliseconds(10))
        // The requests that were sent at the same time.
        let first = sent.withLock(\.self)
        for _ in 0..<20 { await bench.pass(.milliseconds(10)) }
        #expect(first <= 4 && sent.withLock(\.self) == first)
        bench.network.decide(.delivered)
        await bench.drain()
        #expect(bench.server.performed.count == 4)
    }

    @Test(
        "Waits for more than an hour only if the body names the delay",
        arguments: [(true, true), (true, false), (false, true)]
    )
    func longDelay(isInHeader: Bool, isInBody: Bool) async throws {
        let bench = try await QueueBench()
        let body = isInBody ? #"{"error":{"code":"DOWN","retry_after":7200}}"# : "<p>Later</p>"
        var headers: HTTPFields = [.contentType: isInBody ? "application/json" : "text/html"]
        if isInHeader { headers[.retryAfter] = "7200" }
        bench.network.decide(.response(503, headers, body))
        try await bench.enqueue("1")
        await bench.pass()
        bench.network.decide(.delivered)
        let expected: [[String]] = [isInBody ? [] : ["1"], ["1"]]
        for bodies in expected {
            bench.clocks.advance(by: .seconds(3_600))
            await bench.queue.drain()
            #expect(bench.server.bodies == bodies)
        }
    }

    @Test("Runs one drain at a time")
    func overlappingDrains() async throws {
        let bench = try await QueueBench()
        let present = Mutex(0)
        let most = Mutex(0)
        bench.network.decide { _, _ in
            let count = present.withLock { count in
                count += 1
                return count
            }
            most.withLock { $0 = max($0, count) }
            for _ in 0..<10 { await Task.yield() }
            present.withLock { $0 -= 1 }
            return .delivered
        }
        for number in 1...20 { try await bench.enqueue("\(number)") }
        await withTaskGroup { group in
            for _ in 0..<5 { group.addTask { await bench.queue.drain() } }
        }
        #expect(bench.server.bodies == (1...20).map { "\($0)" })
        #expect(bench.server.requests.count == 20)
        #expect(most.withLock(\.self) == 1)
    }

    @Test("A call returns at once if the queue sends no requests")
    func noConcurrency() async throws {
        let bench = try await QueueBench { $0.concurrency = 0 }
        let returned = Mutex(false)
        let call = Task { [queue = bench.queue] in
            defer { returned.withLock { $0 = true } }
            return try await queue.send(.post, "/items", "1", options: .queued()) as QueueResult<Void>
        }
        // The clock stands still, so the deadline of the call doesn't pass.
        let isOver = await becomesTrue { returned.withLock(\.self) }
        call.cancel()
        #expect(isOver)
        guard case .queued = try await call.value else {
            Issue.record("the request is not stored")
            return
        }
        #expect(bench.queue.counts.pending == 1)
    }

    @Test("Sends after the watchdog interval if every event was lost")
    func watchdog() async throws {
        let bench = try await QueueBench()
        bench.network.decide(.neverSent)
        try await bench.enqueue("1")
        let run = Task { [queue = bench.queue] in await queue.run() }
        defer { run.cancel() }
        bench.network.decide(.delivered)
        let isSent = await becomesTrue {
            bench.clocks.advance(by: .seconds(1))
            for _ in 0..<20 { await Task.yield() }
            return bench.queue.counts.pending == 0
        }
        #expect(isSent)
        #expect(bench.server.bodies == ["1"])
    }

    /// Returns a queue, and a closure that returns the number of times that the queue has read the time. Each drain reads the time.
    private static func benchCountingReads(
        change: (inout OfflineQueue.Options) -> Void = { _ in }
    ) async throws -> (QueueBench, reads: @Sendable () -> Int) {
        let reads = Mutex(0)
        let count: @Sendable () -> Void = { reads.withLock { $0 += 1 } }
        let bench = try await QueueBench { options in
            change(&options)
            let time = options.time
            options.time = {
                count()
                return time()
            }
        }
        return (bench, { reads.withLock(\.self) })
    }

    @Test("Sleeps again after the watchdog interval has passed")
    func sleepsAgain() async throws {
        let (bench, reads) = try await Self.benchCountingReads()
        let clock = bench.clocks.clock
        let run = Task { [queue = bench.queue] in await queue.run() }
        defer { run.cancel() }
        await clock.waitForSleepers()
        let before = reads()
        bench.clocks.advance(by: .seconds(60))
        let sleepsAgain = await becomesTrue { reads() > before && clock.sleeperCount == 1 }
        #expect(sleepsAgain)
        // The clock stands still, so no further drain begins.
        let after = reads()
        for _ in 0..<1_000 { await Task.yield() }
        #expect(reads() == after)
    }

    @Test("Sleeps for at least 100 ms if the watchdog interval is not positive", arguments: [.zero, .seconds(-1)] as [Duration])
    func shortWatchdog(watchdog: Duration) async throws {
        let (bench, reads) = try await Self.benchCountingReads { $0.watchdog = watchdog }
        let clock = bench.clocks.clock
        let run = Task { [queue = bench.queue] in await queue.run() }
        defer { run.cancel() }
        // Each drain reads the time.
        _ = await becomesTrue { clock.sleeperCount == 1 || reads() > 1_000 }
        #expect(clock.nextDeadline?.offset == clock.now.offset + .milliseconds(100))
    }

    @Test("Sends even if the lease is not positive", arguments: [.zero, .seconds(-1)] as [Duration])
    func shortLease(lease: Duration) async throws {
        let bench = try await QueueBench { $0.lease = lease }
        try await bench.enqueue("1")
        await bench.queue.drain()
        #expect(bench.server.bodies == ["1"] && bench.queue.counts.pending == 0)
    }

    @Test("Sleeps for the watchdog interval if a delay ends while the disk fails")
    func sleepsWhileDiskFails() async throws {
        let (bench, reads) = try await Self.benchCountingReads()
        bench.network.decide(.neverSent)
        try await bench.enqueue("1")
        await bench.queue.drain()
        bench.disk.fail(with: EIO)
        // The delay of the lane and the role of the sender have ended.
        bench.clocks.advance(by: .seconds(30))
        let clock = bench.clocks.clock
        let run = Task { [queue = bench.queue] in await queue.run() }
        defer { run.cancel() }
        // Each drain reads the time.
        _ = await becomesTrue { clock.sleeperCount == 1 || reads() > 1_000 }
        #expect(clock.nextDeadline?.offset == .seconds(90))
    }

    @Test("Returns the first failed write that kept a drain from sending or from recording", arguments: [false, true])
    func writeFailure(whileSending: Bool) async throws {
        let bench = try await QueueBench()
        try await bench.enqueue("1")
        bench.network.decide { [bench] _, _ in
            bench.disk.fail(with: EIO)
            return .delivered
        }
        if !whileSending { bench.disk.fail(with: EIO) }
        await bench.queue.drain()
        #expect(bench.server.requests.count == (whileSending ? 1 : 0))
        #expect(bench.queue.counts.pending == 1)
        let failure = try #require(bench.queue.takeWriteFailure())
        guard case .storage(let cause) = failure else { throw failure }
        #expect(cause as? JournalError == .io(EIO))
        let further = bench.queue.takeWriteFailure()
        #expect(further.map { "\($0)" } == nil)
    }

    @Test("Sends at once when the network comes back")
    func connectivity() async throws {
        let connectivity = Connectivity()
        let bench = try await QueueBench(connectivity: connectivity)
        bench.network.decide(.neverSent)
        try await bench.enqueue("1")
        for _ in 0..<8 { await bench.pass(.seconds(60)) }
        let run = Task { [queue = bench.queue] in await queue.run() }
        defer { run.cancel() }
        bench.network.decide(.delivered)
        connectivity.report(isOnline: true)
        // The clock stands still.
        let isSent = await becomesTrue { bench.queue.counts.pending == 0 }
        #expect(isSent)
    }
}
