import Foundation
import Logging

/// A log event with a limited size, masked secrets and sorted keys. ``json`` and ``text`` return the line in the two formats.
struct LogLine {
    /// The longest message, in bytes.
    static let longestMessage = 4_096
    /// The longest value, in bytes.
    static let longestValue = 1_024
    /// The largest number of metadata values. It also limits the elements of an array or a dictionary.
    static let mostValues = 64
    /// The deepest nesting of arrays and dictionaries. More deeply nested values become text.
    static let deepestValue = 4

    let time: Date
    let level: Logger.Level
    let label: String
    let message: String
    /// The id of the request, which both formats show outside of the metadata.
    private let requestID: String?
    /// The metadata, sorted by key, without the request's id.
    private let pairs: [(key: String, value: Logger.MetadataValue)]

    /// Creates a line from an event. The line contains only the first 64 metadata pairs, in the order of their keys.
    /// - Parameters:
    ///   - time: The time of the event.
    ///   - level: The level of the event.
    ///   - label: The label of the logger.
    ///   - message: The message. ``json`` and ``text`` cut a message that is longer than ``longestMessage``.
    ///   - metadata: Metadata in the order of precedence. If several dictionaries have a key, the line contains the value of the first one.
    ///   - values: Further metadata. The line contains a value only if no dictionary has its key.
    init(
        time: Date,
        level: Logger.Level,
        label: String,
        message: String,
        metadata: [Logger.Metadata?],
        values: [(key: String, value: Logger.MetadataValue)]
    ) {
        (self.time, self.level, self.label, self.message) = (time, level, label, message)
        var requestID: String?
        var pairs: [(key: String, value: Logger.MetadataValue)] = []
        pairs.reserveCapacity(metadata.reduce(values.count) { $0 + ($1?.count ?? 0) })
        func add(_ key: String, _ value: Logger.MetadataValue, behind dictionaries: ArraySlice<Logger.Metadata?>) {
            guard !dictionaries.contains(where: { $0?[key] != nil }) else { return }
            if key == Logger.requestIDKey { requestID = Self.text(of: value) } else { pairs.append((key, value)) }
        }
        for (place, members) in metadata.enumerated() {
            for (key, value) in members ?? [:] { add(key, value, behind: metadata[..<place]) }
        }
        for (key, value) in values { add(key, value, behind: metadata[...]) }
        pairs.sort { $0.key < $1.key }
        self.requestID = requestID.map { Self.bounded($0, 128) }
        self.pairs = pairs.count > Self.mostValues ? Array(pairs.prefix(Self.mostValues)) : pairs
    }

    /// The line as one JSON object.
    var json: String {
        var json = JSONText()
        json.text += "{\"time\":\"\(LogTime.text(of: time))\",\"level\":\"\(level.rawValue)\",\"message\":"
        json.add(Self.bounded(message, Self.longestMessage))
        json.text += ",\"label\":"
        json.add(Self.bounded(label, 128))
        if let requestID {
            json.text += ",\"request_id\":"
            json.add(requestID)
        }
        if !pairs.isEmpty {
            json.text += ",\"metadata\":"
            json.add(pairs, depth: 0)
        }
        return json.text + "}"
    }

    /// The line as text for a terminal.
    var text: String {
        var line = LogTime.text(of: time)
        line.reserveCapacity(256)
        line += " "
        line += level.rawValue
        line += " "
        line += Self.plain(label)
        line += ": "
        line += Self.plain(Self.bounded(message, Self.longestMessage))
        if let requestID {
            line += " request_id="
            line += Self.plain(requestID)
        }
        for (key, value) in pairs {
            line += " "
            line += Self.plain(Self.bounded(key, 128))
            line += "="
            line += LogRedaction.isSecret(key: key) ? LogRedaction.hidden : Self.plain(Self.shown(value))
        }
        return line
    }

    /// Returns a value for a text line. Nested values become JSON.
    private static func shown(_ value: Logger.MetadataValue) -> String {
        switch value {
        case .dictionary, .array:
            var json = JSONText()
            json.add(value, depth: 0)
            return json.text
        default: return bounded(text(of: value), longestValue)
        }
    }

    /// Returns the text of a value, without the values of secret names. If the value is a text, no conversion is needed.
    static func text(of value: Logger.MetadataValue) -> String {
        if case .string(let text) = value { text } else { "\(value.hidingSecrets)" }
    }

    /// Returns the text with escapes for all characters that begin a line, move a cursor or change the direction of the text.
    private static func plain(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        guard text.unicodeScalars.contains(where: isOdd) else { return text }
        return text.unicodeScalars.reduce(into: "") { plain, scalar in
            if isOdd(scalar) { plain += "\\u{\(String(scalar.value, radix: 16))}" } else { plain.unicodeScalars.append(scalar) }
        }
    }

    /// Returns whether a character could control a terminal or change the direction of text.
    private static func isOdd(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }

    /// Masks secrets in a text and then cuts the text. If the function cut the text first, it could not recognize a secret of which only a
    /// part is left.
    /// - Parameters:
    ///   - text: The text. The function drops everything after about four times the limit before it searches for secrets.
    ///   - limit: The largest length in bytes, without the `…` that marks a cut text.
    static func bounded(_ text: String, _ limit: Int) -> String {
        let isLong = text.utf8.count > limit * 4
        let masked = LogRedaction.masked(isLong ? beginning(of: text, limit * 4) : text)
        guard isLong || masked.utf8.count > limit else { return masked }
        let end = masked.scalarIndex(atMost: min(limit, masked.utf8.count))
        return String(masked.unicodeScalars.prefix(upTo: end)) + "…"
    }

    /// Returns the beginning of a very long text, because a search for secrets in the whole text would take long. If a secret may continue
    /// after the given number of bytes, the result contains up to 4,096 further bytes of it.
    private static func beginning(of text: String, _ count: Int) -> String {
        let bytes = text.utf8
        let rest = bytes.dropFirst(count).prefix(4_096).prefix(while: LogRedaction.mayBeOfSecret)
        return String(decoding: bytes[..<rest.endIndex], as: UTF8.self)
    }
}

extension Logger.MetadataValue {
    /// The value with ``LogRedaction/hidden`` in place of the values whose names indicate a secret, at any depth.
    fileprivate var hidingSecrets: Logger.MetadataValue {
        switch self {
        case .dictionary(var members):
            for (name, value) in members {
                let shown: Logger.MetadataValue =
                    LogRedaction.isSecret(key: name) ? .string(LogRedaction.hidden) : value.hidingSecrets
                members[name] = shown
            }
            return .dictionary(members)
        case .array(let items): return .array(items.map(\.hidingSecrets))
        default: return self
        }
    }
}

extension String {
    /// Returns the last boundary between two Unicode scalars that has at most `bytes` bytes before it.
    fileprivate func scalarIndex(atMost bytes: Int) -> String.Index {
        let end = utf8.index(startIndex, offsetBy: bytes)
        var index = end
        while index > startIndex, index.samePosition(in: unicodeScalars) == nil { index = utf8.index(before: index) }
        return index
    }
}

/// The format of times in the log: RFC 3339, in UTC, with milliseconds.
enum LogTime {
    /// Formats a time, such as `2026-11-21T10:30:00.123Z`. Times outside of the years 0 to 9999 become the nearest time in this range.
    static func text(of time: Date) -> String {
        let milliseconds = min(max((time.timeIntervalSince1970 * 1_000).rounded(.down), -62_167_219_200_000), 253_402_300_799_999)
        let whole = Int64(milliseconds.isNaN ? 0 : milliseconds)
        let (days, rest) = (floorDiv(whole, 86_400_000), whole - floorDiv(whole, 86_400_000) * 86_400_000)
        let (year, month, day) = date(ofDay: days)
        let hours = rest / 3_600_000
        let minutes = rest / 60_000 % 60
        let seconds = rest / 1_000 % 60
        return String(unsafeUninitializedCapacity: 24) { text in
            var end = 0
            func add(_ number: Int64, _ width: Int, _ sign: Unicode.Scalar) {
                var number = number
                for place in stride(from: end + width - 1, through: end, by: -1) {
                    text[place] = UInt8(ascii: "0") + UInt8(number % 10)
                    number /= 10
                }
                text[end + width] = UInt8(ascii: sign)
                end += width + 1
            }
            add(year, 4, "-")
            add(month, 2, "-")
            add(day, 2, "T")
            add(hours, 2, ":")
            add(minutes, 2, ":")
            add(seconds, 2, ".")
            add(rest % 1_000, 3, "Z")
            return end
        }
    }

    /// Returns the date of a day since 1970, computed by eras of 400 years (Hinnant, "chrono-compatible low-level date algorithms").
    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = floorDiv(shifted, 146_097)
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// Division that rounds down, also for negative numbers.
    private static func floorDiv(_ a: Int64, _ b: Int64) -> Int64 { a >= 0 ? a / b : -((b - 1 - a) / b) }
}
