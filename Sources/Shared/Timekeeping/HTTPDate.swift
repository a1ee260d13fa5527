/// Parses and formats HTTP dates (RFC 9110 §5.6.7), in seconds since 1970.
///
/// The parser accepts three formats: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov 6 08:49:37 1994`. The
/// formatter writes the first format. If a two-digit year would be more than 50 years in the future, the parser uses the year of the
/// previous century. The parser doesn't check that the weekday matches the date. It refuses a day that doesn't exist in its month, such as
/// February 30.
///
/// ```swift
/// print(HTTPDate.text(784_111_777))  // Sun, 06 Nov 1994 08:49:37 GMT
/// ```
///
/// Unlike `DateFormatter`, this type needs neither Foundation nor a locale. The parser accepts a leap second (`:60`), and treats it as the
/// first second of the next minute.
public enum HTTPDate {
    /// Parses a date; returns `nil` if the text isn't a date.
    ///
    /// - Parameters:
    ///   - text: The value of the field.
    ///   - now: The current time in seconds since 1970. It determines the century of a two-digit year. If it is `nil`, the parser refuses
    ///     two-digit years.
    public static func seconds(_ text: some StringProtocol, now: Int64?) -> Int64? {
        guard text.utf8.count <= 64 else { return nil }
        let parts = Substring(text).utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "-") }
            .map { String(Substring($0)) }
        guard let weekday = parts.first, weekdays.contains(String(weekday.prefix(3))) else { return nil }
        switch parts.count {
        case 6 where parts[5] == "GMT":
            return seconds(day: parts[1], month: parts[2], year: parts[3], time: parts[4], now: now)
        case 5: return seconds(day: parts[2], month: parts[1], year: parts[4], time: parts[3], now: now)
        default: return nil
        }
    }

    /// Returns the date in the format `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// - Parameter seconds: The seconds since 1970. The year must be from 0 to 9999, because an HTTP date has four digits for the year.
    public static func text(_ seconds: Int64) -> String {
        let (time, days) = (seconds.modulo(86_400), (seconds - seconds.modulo(86_400)) / 86_400)
        let (year, month, day) = CivilDay.date(Int(days))
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { padded(Int($0), to: 2) }.joined(separator: ":")
        return "\(weekdays[Int(days.modulo(7))]), \(padded(day, to: 2)) \(months[month - 1]) \(padded(year, to: 4)) \(clock) GMT"
    }

    /// The weekdays, starting with the weekday of 1970-01-01.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    /// The names of the months. They are case-sensitive in HTTP.
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the seconds since 1970 for the parts of a date; `nil` if a part is malformed or out of range.
    private static func seconds(day: String, month: String, year: String, time: String, now: Int64?) -> Int64? {
        let clock = time.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { digits(Substring($0), length: 2...2) }
        guard let month = months.firstIndex(of: month), let day = digits(day[...], length: 1...2),
            let year = fullYear(year, now: now), clock.count == 3,
            let hour = clock[0], let minute = clock[1], let second = clock[2],
            hour < 24, minute < 60, second <= 60, let days = CivilDay.number(year: year, month: month + 1, day: day)
        else { return nil }
        return Int64(days * 86_400 + hour * 3_600 + minute * 60 + second)
    }

    /// Returns the number of a text that consists of a given number of ASCII digits.
    private static func digits(_ text: Substring, length: ClosedRange<Int>) -> Int? {
        guard length.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    /// Returns the year of a text with four digits, or with two digits by the rule of ``HTTPDate``. `nil` if the text has two digits and
    /// the current time is `nil`.
    private static func fullYear(_ text: String, now: Int64?) -> Int? {
        if let year = digits(text[...], length: 4...4) { return year }
        guard let short = digits(text[...], length: 2...2), let now else { return nil }
        let thisYear = 1970 + Int((now - now.modulo(31_556_952)) / 31_556_952)
        let year = thisYear - thisYear % 100 + short
        return year > thisYear + 50 ? year - 100 : year
    }

    /// Returns a number with leading zeros.
    private static func padded(_ number: Int, to length: Int) -> String {
        String(repeating: "0", count: max(0, length - "\(number)".count)) + "\(number)"
    }
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
enum CivilDay {
    /// Returns the number of days from 1970-01-01 to a day; `nil` if the day doesn't exist. Earlier days have negative numbers. To check
    /// that the day exists, the function compares the number of the day with the number of the first day of the next month.
    static func number(year: Int, month: Int, day: Int) -> Int? {
        guard (1...12).contains(month), day >= 1 else { return nil }
        let number = unchecked(year: year, month: month, day: day)
        let nextMonth = month == 12 ? (year + 1, 1) : (year, month + 1)
        return number < unchecked(year: nextMonth.0, month: nextMonth.1, day: 1) ? number : nil
    }

    /// Returns the day for a number of days since 1970-01-01.
    static func date(_ number: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let era = (shifted - shifted.modulo(146_097)) / 146_097
        let dayOfEra = shifted.modulo(146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        // Years begin in March here, so that the leap day is the last day.
        return (yearOfEra + era * 400 + (month < 10 ? 0 : 1), month < 10 ? month + 3 : month - 9, day)
    }

    /// Returns the number of a day without checking that the day exists. Years begin in March, and 400 years are an era of 146,097 days.
    private static func unchecked(year: Int, month: Int, day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted - shifted.modulo(400)) / 400
        let yearOfEra = shifted.modulo(400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension FixedWidthInteger {
    /// Returns the remainder of a division that rounds down. The remainder is never negative.
    fileprivate func modulo(_ divisor: Self) -> Self {
        let remainder = self % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }
}
