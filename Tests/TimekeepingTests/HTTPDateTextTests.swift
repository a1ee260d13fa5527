import Foundation
import HoldfastTesting
import Testing

@testable import Timekeeping

@Suite struct HTTPDateTextTests {
    @Test(
        "Writes the form of RFC 9110",
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 GMT"),
            (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"),
        ] as [(Int64, String)]
    )
    func text(seconds: Int64, text: String) { #expect(HTTPDate.text(seconds) == text) }

    @Test("Reads every date that it writes, and numbers days as Foundation does")
    func roundTrip() {
        var generator = SplitMix64(seed: 1)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        for _ in 0..<2_000 {
            let seconds = Int64.random(in: -1_000_000_000...253_402_300_799, using: &generator)
            #expect(HTTPDate.seconds(HTTPDate.text(seconds), now: nil) == seconds)
            let parts = calendar.dateComponents([.year, .month, .day], from: Date(timeIntervalSince1970: Double(seconds)))
            let day = CivilDay.date(Int((Double(seconds) / 86_400).rounded(.down)))
            #expect(day.year == parts.year && day.month == parts.month && day.day == parts.day)
        }
    }

    @Test("Refuses days that do not exist", arguments: [(2023, 2, 29), (2024, 13, 1), (2024, 0, 1), (2024, 4, 31), (2024, 1, 0)])
    func missing(year: Int, month: Int, day: Int) { #expect(CivilDay.number(year: year, month: month, day: day) == nil) }
}
