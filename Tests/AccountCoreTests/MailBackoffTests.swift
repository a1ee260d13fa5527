import AccountCore
import Testing

@Suite struct MailBackoffTests {
    @Test(
        "The delay doubles from 5 s to 5 min",
        arguments: [
            (1, 5), (2, 10), (3, 20), (4, 40), (5, 80), (6, 160), (7, 300), (8, 300), (20, 300), (63, 300), (64, 300),
            (1_000_000, 300), (Int.max, 300),
        ]
    )
    func table(failures: Int, seconds: Int) {
        let backoff = MailBackoff()
        #expect(about(backoff.delay(afterFailures: failures, chance: 0.5), seconds))
        #expect(about(backoff.delay(afterFailures: failures, chance: 0), Double(seconds) * 0.8))
        #expect(about(backoff.delay(afterFailures: failures, chance: 1), Double(seconds) * 1.2))
    }

    @Test("Treats a count below one as the first failure", arguments: [0, -1, Int.min + 1])
    func noFailure(_ failures: Int) {
        #expect(about(MailBackoff().delay(afterFailures: failures, chance: 0.5), 5))
    }

    @Test("The jittered delay stays within a fifth of the table's value")
    func jitter() {
        let backoff = MailBackoff()
        for step in 0..<100 {
            let delay = backoff.delay(afterFailures: 7, chance: Double(step) / 100)
            #expect(delay >= .seconds(240) && delay <= .seconds(360))
        }
    }

    private func about(_ duration: Duration, _ seconds: some BinaryInteger) -> Bool { about(duration, Double(seconds)) }
    private func about(_ duration: Duration, _ seconds: Double) -> Bool { abs(duration / .seconds(1) - seconds) < 0.000_001 }
}
