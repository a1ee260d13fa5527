import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization
import Testing
import Timekeeping

@Suite struct RetryAfterTests {
    /// 2025-11-04T10:30:00Z
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    @Test("Reads exactly the delays of the table", arguments: RetryAfterCase.all)
    func table(row: RetryAfterCase) {
        #expect(row.read(at: Self.now) == row.delay)
        if row.body.isEmpty {
            #expect(RetryAfter.delay(status: row.status, headers: row.headers, now: Self.now) == row.delay)
        }
    }

    @Test("The table has at least 120 cases, and some of each group")
    func coverage() {
        #expect(RetryAfterCase.all.count >= 270)
        let groups = Dictionary(grouping: RetryAfterCase.all) { $0.group.hasPrefix("vendor") ? "vendor" : $0.group }
        for (group, least) in [
            ("seconds", 10), ("date", 12), ("skew", 12), ("garbage", 30), ("overflow", 15), ("lines", 10), ("precedence", 18),
            ("plain", 15), ("draft", 25), ("old", 35), ("body", 20), ("vendor", 30),
        ] {
            #expect(groups[group, default: []].count >= least, "\(group)")
        }
    }

    @Test(
        "A caller that waits for the delay wakes at that moment, not a nanosecond before",
        arguments: RetryAfterCase.all.filter { $0.delay != nil }
    )
    func waiting(row: RetryAfterCase) async throws {
        let (clock, executor) = (ManualClock(), SteppedExecutor())
        let start = Self.now.addingTimeInterval(-600)
        clock.advance(by: .seconds(600))
        let delay = try #require(row.read(at: start.addingTimeInterval(clock.now.offset / .seconds(1))))
        let woken = Mutex<Duration?>(nil)
        _ = Task(executorPreference: executor) {
            try await clock.sleep(for: delay)
            woken.withLock { $0 = clock.now.offset }
        }
        executor.drain()
        if delay > .zero {
            clock.advance(by: delay - .nanoseconds(1))
            executor.drain()
            #expect(woken.withLock(\.self) == nil, "not before")
            clock.advance(by: .nanoseconds(1))
            executor.drain()
        }
        #expect(woken.withLock(\.self) == .seconds(600) + delay)
    }

    @Test(
        "A wrong local clock changes only the delay of a date without a Date header",
        arguments: [-86_400, -3_600, 1, 7_200, 25_920_000]
    )
    func wrongClock(seconds: Int) {
        for row in RetryAfterCase.all {
            let isDated = row.headers[.date].map { HTTPDate.parse($0, now: Self.now) != nil } ?? false
            let isRelative = !row.lines.contains {
                $0.contains("GMT") || $0.contains("Nov") || $0.contains("17622") || $0.contains("2025-")
            }
            guard isDated || isRelative else { continue }
            #expect(
                row.read(at: Self.now.addingTimeInterval(Double(seconds))) == row.read(at: Self.now),
                "\(row.testDescription)"
            )
        }
    }

    @Test(
        "A delay is between zero and ten years, in whole seconds",
        arguments: RetryAfterCase.all
    )
    func bounds(row: RetryAfterCase) {
        for now in [
            Self.now, .distantPast, .distantFuture, Date(timeIntervalSince1970: .infinity), Date(timeIntervalSince1970: .nan),
        ] {
            guard let delay = row.read(at: now) else { continue }
            #expect(delay >= .zero && delay <= RetryAfter.longest && delay.components.attoseconds == 0)
        }
    }

    @Test(
        "Prefers a header over the body, whatever the body contains",
        arguments: RetryAfterCase.all.filter { $0.group == "body" }
    )
    func headerFirst(row: RetryAfterCase) {
        var row = row
        row.lines = ["X-RateLimit-Reset: 42"]
        #expect(row.read(at: Self.now) == .seconds(42))
    }

    @Test("Reads Retry-After alone without a status")
    func headerAlone() {
        #expect(RetryAfter.delay(in: [.retryAfter: "5"], now: Self.now) == .seconds(5))
        #expect(RetryAfter.delay(in: [:], now: Self.now) == nil)
    }
}
