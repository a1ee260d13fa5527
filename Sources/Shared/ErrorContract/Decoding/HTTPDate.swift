public import Foundation

/// Reads an HTTP-date in its three forms (RFC 9110 §5.6.7).
///
/// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. A two-digit year
/// that would lie more than 50 years ahead is taken to be in the past century. Whether the weekday is the right one is not
/// looked at; a day that its month does not have is refused.
public enum HTTPDate {
    /// The date, or `nil` if the text is none.
    /// - Parameters:
    ///   - text: The field's value.
    ///   - now: The time that two-digit years are read against.
    public static func parse(_ text: some StringProtocol, now: Date) -> Date? {
        guard text.utf8.count <= 64 else { return nil }
        let parts = Substring(text).utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "-") }
            .map { String(Substring($0)) }
        guard let weekday = parts.first, weekdays.contains(String(weekday.prefix(3))) else { return nil }
        switch parts.count {
        case 6 where parts[5] == "GMT":
            return date(day: parts[1], month: parts[2], year: parts[3], time: parts[4], now: now)
        case 5: return date(day: parts[2], month: parts[1], year: parts[4], time: parts[3], now: now)
        default: return nil
        }
    }

    private static let weekdays: Set<String> = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private static func date(day: String, month: String, year: String, time: String, now: Date) -> Date? {
        let clock = time.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { digits(Substring($0), length: 2...2) }
        guard let month = months.firstIndex(of: month), let day = digits(day[...], length: 1...2),
            let year = fullYear(year, now: now), clock.count == 3,
            let hour = clock[0], let minute = clock[1], let second = clock[2],
            day >= 1, hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = daysSinceEpoch(year: year, month: month + 1, day: day)
        let nextMonth = month == 11 ? (year + 1, 1) : (year, month + 2)
        guard days < daysSinceEpoch(year: nextMonth.0, month: nextMonth.1, day: 1) else { return nil }
        return Date(timeIntervalSince1970: Double(days * 86_400 + hour * 3_600 + minute * 60 + second))
    }

    private static func digits(_ text: Substring, length: ClosedRange<Int>) -> Int? {
        guard length.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    private static func fullYear(_ text: String, now: Date) -> Int? {
        if let year = digits(text[...], length: 4...4) { return year }
        guard let short = digits(text[...], length: 2...2) else { return nil }
        guard let years = Int(exactly: (now.timeIntervalSince1970 / 31_556_952).rounded(.down)) else { return nil }
        let thisYear = 1970 + years
        let year = thisYear - thisYear % 100 + short
        return year > thisYear + 50 ? year - 100 : year
    }

    /// Days from 1970-01-01 in the proleptic Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
    static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
