public import Foundation
public import HTTPTypes
import Timekeeping

/// Parses `Retry-After` (RFC 9110 §10.2.3).
///
/// ```swift
/// let delay = RetryAfter.delay(in: response.headerFields, now: Date())
/// ```
///
/// A number is a delay in seconds, and the parser rounds fractions up. The parser compares an HTTP date with the response's `Date`, so that
/// a wrong clock of the device has no effect. A date in the past is a delay of zero. Negative numbers, NaN and other texts are not delays.
/// If the response contains the field several times, the parser uses the largest valid delay.
///
/// ``delay(in:now:)`` reads only the standard field; ``delay(status:headers:now:)`` also reads the fields of vendors.
public enum RetryAfter {
    /// The maximum delay, which is ten years. Longer delays are reduced to this maximum.
    public static let longest: Duration = .seconds(315_360_000)

    /// Returns the delay of the field `Retry-After`.
    ///
    /// - Parameters:
    ///   - headers: The response's headers.
    ///   - now: The local wall clock, used if the response has no `Date`.
    /// - Returns: The delay in whole seconds, rounded up, from zero to ``longest``; `nil` if there is no valid delay.
    public static func delay(in headers: HTTPFields, now: Date) -> Duration? {
        let lines = headers[values: .retryAfter]
        guard !lines.isEmpty else { return nil }
        let response = ResponseTime(headers: headers, now: now)
        return lines.flatMap(values(in:)).compactMap { delay(of: $0, in: response) }.max()
    }

    /// The time of a response. The parser compares the dates in the response with this time.
    struct ResponseTime {
        let headers: HTTPFields
        /// The local wall clock.
        let now: Date

        /// The response's `Date`, or the local time if the response has no `Date`. The property is computed on demand, because few
        /// responses need it.
        var base: Date { headers.value(.date).flatMap { HTTPDate.parse($0, now: now) } ?? now }
    }

    /// Returns the possible values in one line of the header. An HTTP library can join several values with commas, but two of the three
    /// date formats also contain a comma. So the result contains each part between commas, and each pair of adjacent parts. The caller
    /// ignores invalid values.
    private static func values(in line: String) -> [String] {
        guard line.utf8.contains(UInt8(ascii: ",")) else { return [line] }
        let pieces = line.split(separator: ", ").map { String($0) }
        return pieces + zip(pieces, pieces.dropFirst()).map { "\($0), \($1)" }
    }

    /// Returns the delay of one value, which is a number or an HTTP date.
    private static func delay(of line: String, in response: ResponseTime) -> Duration? {
        let trimmed = line[...].trimmedText[...]
        if let seconds = secondsRoundedUp(trimmed) { return min(.seconds(seconds), longest) }
        return HTTPDate.parse(trimmed, now: response.now).flatMap { distance(to: $0, in: response) }
    }

    /// Parses digits with an optional fraction to whole seconds, rounded up; `nil` for any other text.
    static func secondsRoundedUp(_ text: Substring) -> Int64? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let digitsOnly = parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
        guard digitsOnly, let whole = parts.first else { return nil }
        // A number that is too large for an Int64 is still a valid delay. The caller reduces it to the maximum.
        let seconds = Int64(Substring(whole)) ?? Int64.max
        let hasFraction = parts.count == 2 && parts[1].contains { $0 != UInt8(ascii: "0") }
        return hasFraction && seconds < Int64.max ? seconds + 1 : seconds
    }
}
