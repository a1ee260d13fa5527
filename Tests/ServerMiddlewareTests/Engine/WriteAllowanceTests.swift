import NIOCore
import Testing

@testable import ServerMiddleware

@Suite struct WriteAllowanceTests {
    /// Returns the second at which the time has run out for a client that has read `read(second)` bytes by then; `nil` if it
    /// never does.
    private func end(every step: Int = 5, within limit: Int = 3_600, _ read: (Int) -> Int) -> Int? {
        var allowance = WriteAllowance(time: .seconds(30), rate: 2_048)
        return stride(from: 0, through: limit, by: step).first { second in
            let now = NIODeadline.uptimeNanoseconds(UInt64(second) * 1_000_000_000)
            return allowance.advance(total: read(second), at: now) <= now
        }
    }

    @Test("A client that reads nothing runs out of time after 30 seconds")
    func nothing() { #expect(end { _ in 0 } == 30) }

    @Test("A client that reads at least 2 KB a second never runs out of time", arguments: [2_048, 4_096, 1_000_000])
    func steady(rate: Int) { #expect(end { $0 * rate } == nil) }

    @Test("Nor does one that reads as much in steps of 20 seconds")
    func steps() { #expect(end { $0 / 20 * 20 * 2_048 } == nil) }

    @Test(
        "A slower client runs out of time, the sooner the slower",
        arguments: [(1_024, 60), (512, 40), (100, 35)]
    )
    func slow(rate: Int, seconds: Int) throws {
        let end = try #require(end { $0 * rate })
        #expect(end == seconds)
    }

    @Test("Fast reading earlier gives at most 30 seconds")
    func fastAtFirst() { #expect(end { min($0, 100) * 1_000_000 } == 130) }

    @Test("A byte now and then does not keep a connection open")
    func drip() throws {
        let end = try #require(end { $0 / 5 })
        #expect(end <= 35)
    }
}
