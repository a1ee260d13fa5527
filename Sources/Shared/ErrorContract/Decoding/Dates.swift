public import Foundation
public import Timekeeping

extension HTTPDate {
    /// Parses an HTTP date (RFC 9110 §5.6.7).
    ///
    /// - Parameters:
    ///   - text: The value of the field.
    ///   - now: The current time. It determines the century of a two-digit year.
    /// - Returns: `nil` if the text is not an HTTP date.
    public static func parse(_ text: some StringProtocol, now: Date) -> Date? {
        seconds(text, now: Int64(exactly: now.timeIntervalSince1970.rounded(.down)))
            .map { Date(timeIntervalSince1970: Double($0)) }
    }

    /// Returns a date in the format of RFC 9110 §5.6.7, without the fraction of a second.
    /// - Parameter date: The date. The method rounds it down to a whole second.
    public static func text(_ date: Date) -> String { text(Int64(date.timeIntervalSince1970.rounded(.down))) }
}

extension InternetDate {
    /// Parses a timestamp of RFC 3339; `nil` if the text is not a timestamp.
    package static func parse(_ text: some StringProtocol) -> Date? {
        seconds(text).map { Date(timeIntervalSince1970: Double($0.whole) + $0.fraction) }
    }
}
