import Timekeeping

/// One item of a comma-separated header field, such as `"default";r=50;t=30`: a value and its parameters.
///
/// Parsing is lenient: the value can be quoted or unquoted, and the names of parameters are case-insensitive. The parser reads bytes, not
/// characters. Swift combines a comma and a following combining mark (such as an accent) into one character, so a parser of characters
/// would not find such a comma.
struct FieldItem {
    /// The text before the first semicolon, without its quotes.
    var value: String
    /// The values of the parameters, by the lowercase names of the parameters.
    var parameters: [String: String] = [:]

    /// The maximum number of items of a field, and the maximum number of bytes of each of its lines. The parser ignores the rest.
    private static let (mostItems, mostBytes) = (64, 8_192)

    /// Parses the items from all lines of a header field. The method skips empty items. Commas and semicolons within quotes don't separate
    /// items or parameters. If an item has a parameter twice, the last value applies.
    static func items(_ lines: [String]) -> [FieldItem] {
        lines.lazy.flatMap { split(Array($0.utf8.prefix(mostBytes))[...], at: 44) }.prefix(mostItems).compactMap { text in
            let parts = split(text, at: 59)
            // Skip an inner list, which begins with `(` and is not the name of a policy.
            guard let first = parts.first, !first.isEmpty, first.first != 40 else { return nil }
            var item = FieldItem(value: unquoted(first))
            for part in parts.dropFirst() {
                guard let equals = part.firstIndex(of: 61) else { continue }
                let name = String(decoding: trimmed(part[..<equals]), as: UTF8.self).lowercased()
                item.parameters[name] = unquoted(trimmed(part[(equals + 1)...]))
            }
            return item
        }
    }

    /// Splits bytes at a separator that is not within quotes, and removes the space around each part.
    private static func split(_ text: ArraySlice<UInt8>, at separator: UInt8) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var (start, isQuoted, isEscaped) = (text.startIndex, false, false)
        for index in text.indices {
            let byte = text[index]
            if byte == separator && !isQuoted {
                parts.append(trimmed(text[start..<index]))
                start = index + 1
                continue
            }
            if byte == 34 && !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && byte == 92 && !isEscaped
        }
        return parts + [trimmed(text[start...])]
    }

    /// Removes spaces and tabs from both ends.
    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace: (UInt8) -> Bool = { $0 == 32 || $0 == 9 }
        let start = text.drop(while: isSpace)
        return start[..<(start.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start.startIndex)]
    }

    /// Returns the text without its quotes and its escaping backslashes. A text without quotes stays unchanged.
    private static func unquoted(_ text: ArraySlice<UInt8>) -> String {
        guard text.count >= 2, text.first == 34, text.last == 34 else { return String(decoding: text, as: UTF8.self) }
        var (plain, isEscaped) = ([UInt8](), false)
        for byte in text.dropFirst().dropLast() {
            if byte == 92 && !isEscaped {
                isEscaped = true
            } else {
                plain.append(byte)
                isEscaped = false
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }
}

/// Parses the numbers, dates and durations that servers write into header fields. All methods return `nil` for a value that they can't
/// read.
enum FieldNumber {
    /// Parses a number of units, such as Reddit's `99.0`. The method drops a fraction, so the result never exceeds the reported number.
    static func count(_ text: String?) -> Int? { parts(text)?.whole }

    /// Parses the length of a window in whole seconds. Returns `nil` for zero.
    static func window(_ text: String?) -> Duration? { count(text).flatMap { $0 > 0 ? .seconds($0) : nil } }

    /// Parses a number, a date or a duration, and returns the time from now until the reset. The result is never negative.
    ///
    /// A number up to 10⁹ is a delay in seconds. A larger number up to 10¹² is a time in seconds since 1970. A number above 10¹² is a time
    /// in milliseconds since 1970. Other text is a date (Vimeo's HTTP date, Akamai's ISO 8601) or a duration (OpenAI's `1m2.5s`). A
    /// fraction is rounded up.
    /// - Parameter now: The current time in seconds since 1970.
    static func reset(_ text: String?, now: Int64) -> Duration? {
        guard let text else { return nil }
        guard let (count, hasFraction) = parts(text) else {
            return date(text, now: now).map { .seconds(max(0, $0 - now)) } ?? length(text)
        }
        let whole = Int64(count) + (hasFraction ? 1 : 0)
        if whole > 1_000_000_000_000 { return .milliseconds(max(0, whole - now * 1_000)) }
        return .seconds(whole > 1_000_000_000 ? max(0, whole - now) : whole)
    }

    /// Parses a number of up to 15 digits with an optional fraction. Returns the whole part, and whether the fraction is above zero.
    /// Returns `nil` for any other text, including numbers with a sign.
    private static func parts(_ text: String?) -> (whole: Int, hasFraction: Bool)? {
        guard let text else { return nil }
        let parts = text.utf8.split(separator: 46, maxSplits: 1, omittingEmptySubsequences: false)
        guard (1...15).contains(parts[0].count), parts.allSatisfy({ $0.allSatisfy { (48...57).contains($0) } }) else {
            return nil
        }
        let hasFraction = parts.count == 2 && parts[1].contains { $0 != 48 }
        return Int(String(Substring(parts[0]))).map { ($0, hasFraction) }
    }

    /// Parses a date, and returns the seconds since 1970, rounded up. Returns `nil` for a date in a time zone other than UTC.
    private static func date(_ text: String, now: Int64) -> Int64? {
        if let seconds = HTTPDate.seconds(text, now: now) { return seconds }
        guard let zone = text.utf8.last, zone == UInt8(ascii: "Z") || zone == UInt8(ascii: "z") else { return nil }
        return InternetDate.seconds(text).map { $0.whole + ($0.fraction > 0 ? 1 : 0) }
    }

    /// Parses a duration in the format of Go, which consists of numbers with units: `6m0s`, `1h2m3.5s`, `20ms`.
    private static func length(_ text: String) -> Duration? {
        let units: [(name: String, milliseconds: Double)] = [("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)]
        var rest = text.utf8[...]
        var milliseconds = 0.0
        guard !rest.isEmpty, rest.count <= 32 else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { (48...57).contains($0) || $0 == 46 }
            rest = rest[digits.endIndex...]
            guard
                digits.count <= 12, let number = Double(String(Substring(digits))),
                let unit = units.first(where: { rest.starts(with: $0.name.utf8) })
            else { return nil }
            rest = rest.dropFirst(unit.name.utf8.count)
            milliseconds += number * unit.milliseconds
        }
        return milliseconds < 1e15 ? .seconds(Int64((milliseconds / 1_000).rounded(.up))) : nil
    }
}

/// Base64 for byte sequences of structured fields (RFC 9651, section 3.3.5).
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Encodes bytes as base64 with padding, in the standard alphabet.
    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 { text.append(place <= group.count ? alphabet[bits >> (18 - 6 * place) & 63] : 61) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes base64 with or without padding, in the standard or the URL alphabet.
    ///
    /// - Returns: The bytes; `nil` if the text isn't base64.
    static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count, isPadded) = (UInt32(0), 0, false)
        for character in text {
            if character == 61 {
                isPadded = true
                continue
            }
            guard !isPadded, let value = value(of: character) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 1
            if count % 4 != 1 { bytes.append(UInt8(truncatingIfNeeded: bits >> (6 - UInt32((count + 3) % 4) * 2))) }
        }
        return count % 4 == 1 ? nil : bytes
    }

    /// Returns the six bits that a base64 character encodes, in the standard or the URL alphabet; `nil` for other characters.
    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case 65...90: character - 65
        case 97...122: character - 71
        case 48...57: character + 4
        case 43, 45: 62
        case 47, 95: 63
        default: nil
        }
    }
}
