public import Foundation
public import HTTPTypes
import Timekeeping

/// Reads `Retry-After` (RFC 9110 §10.2.3).
///
/// Digits are seconds; decimals round up; an HTTP-date is measured against the response's `Date`, and lies in the past
/// at most as zero. Negative, NaN and other text is no delay at all. Of several lines the largest valid one counts.
public enum RetryAfter {
    /// The longest delay that is told apart; anything above is cut to it: ten years.
    public static let longest: Duration = .seconds(315_360_000)

    /// The delay that the headers name, or `nil`.
    /// - Parameters:
    ///   - headers: The response's headers.
    ///   - now: The local wall clock, used when the response carries no `Date`.
    public static func delay(in headers: HTTPFields, now: Date) -> Duration? {
        let lines = headers[values: .retryAfter]
        guard !lines.isEmpty else { return nil }
        let answer = ResponseTime(headers: headers, now: now)
        return lines.flatMap(values(in:)).compactMap { delay(of: $0, in: answer) }.max()
    }

    /// The time by which dates in an answer are measured.
    struct ResponseTime {
        let headers: HTTPFields
        /// The local wall clock.
        let now: Date

        /// The answer's own time, or the local one if it carries none. Read when a date needs it, which is rare.
        var base: Date { headers.value(.date).flatMap { HTTPDate.parse($0, now: now) } ?? now }
    }

    /// The values of a line: it may be several that an HTTP engine joined with commas, and two forms of a date have a comma of
    /// their own.
    private static func values(in line: String) -> [String] {
        guard line.utf8.contains(UInt8(ascii: ",")) else { return [line] }
        let pieces = line.split(separator: ", ").map { String($0) }
        return pieces + zip(pieces, pieces.dropFirst()).map { "\($0), \($1)" }
    }

    private static func delay(of line: String, in answer: ResponseTime) -> Duration? {
        let trimmed = line[...].trimmedText[...]
        if let seconds = secondsRoundedUp(trimmed) { return min(.seconds(seconds), longest) }
        return HTTPDate.parse(trimmed, now: answer.now).flatMap { distance(to: $0, in: answer) }
    }

    /// Whole seconds of plain digits with an optional fraction; `nil` for anything else.
    static func secondsRoundedUp(_ text: Substring) -> Int64? {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let digitsOnly = parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
        guard digitsOnly, let whole = parts.first else { return nil }
        // More digits than an Int64 holds are a delay beyond every cap, not garbage.
        let seconds = Int64(Substring(whole)) ?? Int64.max
        let hasFraction = parts.count == 2 && parts[1].contains { $0 != UInt8(ascii: "0") }
        return hasFraction && seconds < Int64.max ? seconds + 1 : seconds
    }
}
