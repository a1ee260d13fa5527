public import Foundation
public import Timekeeping

extension HTTPDate {
    /// Returns the date, or `nil` if the text is not an HTTP-date.
    /// - Parameters:
    ///   - text: The field's value.
    ///   - now: The time that two-digit years are read against.
    public static func parse(_ text: some StringProtocol, now: Date) -> Date? {
        seconds(text, now: Int64(exactly: now.timeIntervalSince1970.rounded(.down)))
            .map { Date(timeIntervalSince1970: Double($0)) }
    }

    /// Returns a date in the form of RFC 9110 §5.6.7, a fraction of a second left out.
    public static func text(_ date: Date) -> String { text(Int64(date.timeIntervalSince1970.rounded(.down))) }
}

extension InternetDate {
    /// Returns the date, or `nil` if the text is not a timestamp of RFC 3339.
    package static func parse(_ text: some StringProtocol) -> Date? {
        seconds(text).map { Date(timeIntervalSince1970: Double($0.whole) + $0.fraction) }
    }
}
