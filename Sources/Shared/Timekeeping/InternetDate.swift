/// Parses Internet timestamps (RFC 3339), such as `2025-11-04T10:31:00.5Z` and `2025-11-04T12:31:00+02:00`.
///
/// The parser refuses a time without an offset from UTC, because such a time doesn't identify an instant. It accepts a space instead of the
/// `T`, and lowercase letters (RFC 3339 §5.6). It refuses texts of more than 40 bytes. O(length of the text).
package enum InternetDate {
    /// Returns the time of a timestamp; `nil` if the text isn't a timestamp.
    /// - Returns: The whole seconds since 1970, rounded down, and the fraction of a second from 0 to 1. The two numbers are more precise
    ///   than a single `Double`.
    package static func seconds(_ text: some StringProtocol) -> (whole: Int64, fraction: Double)? {
        var reader = Reader(bytes: Array(text.utf8))
        guard (20...40).contains(reader.bytes.count) else { return nil }
        guard
            let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("Tt "), let hour = reader.number(2), reader.take(":"),
            let minute = reader.number(2), reader.take(":"), let second = reader.number(2),
            let fraction = reader.fraction(), let offset = reader.offset(), reader.isAtEnd
        else { return nil }
        guard hour < 24, minute < 60, second <= 60, let days = CivilDay.number(year: year, month: month, day: day) else {
            return nil
        }
        return (Int64(days * 86_400 + hour * 3_600 + minute * 60 + second - offset), fraction)
    }

    /// A cursor in the text. Each function consumes one element, if the element comes next in the text. The function returns the value of
    /// the element, or whether the text contains the element.
    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        var isAtEnd: Bool { position == bytes.count }

        /// Consumes one of several characters.
        mutating func take(_ characters: StaticString) -> Bool {
            guard position < bytes.count else { return false }
            let byte = bytes[position]
            let isOne = characters.withUTF8Buffer { $0.contains(byte) }
            if isOne { position += 1 }
            return isOne
        }

        /// Consumes exactly `count` digits.
        mutating func number(_ count: Int) -> Int? {
            guard position + count <= bytes.count else { return nil }
            var value = 0
            for byte in bytes[position..<position + count] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int(byte - 0x30)
            }
            position += count
            return value
        }

        /// Consumes a fraction of a second, if there is one.
        mutating func fraction() -> Double? {
            guard take(".") else { return 0 }
            let start = position
            var (value, unit) = (0.0, 0.1)
            while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
                value += Double(bytes[position] - 0x30) * unit
                unit /= 10
                position += 1
            }
            return position > start ? value : nil
        }

        /// Consumes the offset from UTC, in seconds.
        mutating func offset() -> Int? {
            if take("Zz") { return 0 }
            let isWest = position < bytes.count && bytes[position] == UInt8(ascii: "-")
            guard take("+-"), let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else {
                return nil
            }
            return (isWest ? -1 : 1) * (hours * 3_600 + minutes * 60)
        }
    }
}
