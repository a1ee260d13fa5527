import Foundation
import Logging

/// An event as it is written.
struct LogLine {
    /// In bytes.
    static let longestMessage = 4_096
    /// In bytes.
    static let longestValue = 1_024
    static let mostValues = 64
    static let deepestValue = 4

    let time: Date
    let level: Logger.Level
    let label: String
    let message: String
    let metadata: Logger.Metadata

    private var pairs: [(key: String, value: Logger.MetadataValue)] {
        var pairs: [(key: String, value: Logger.MetadataValue)] = []
        pairs.reserveCapacity(metadata.count)
        for (key, value) in metadata where key != Logger.requestIDKey { pairs.append((key, value)) }
        pairs.sort { $0.key < $1.key }
        return pairs.count > Self.mostValues ? Array(pairs.prefix(Self.mostValues)) : pairs
    }

    private var requestID: String? { metadata[Logger.requestIDKey].map { Self.bounded("\($0)", 128) } }

    /// One object of JSON.
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

    /// A line for people.
    var text: String {
        var line = "\(LogTime.text(of: time)) \(level.rawValue) \(Self.plain(label)): "
        line += Self.plain(Self.bounded(message, Self.longestMessage))
        if let requestID { line += " request_id=\(Self.plain(requestID))" }
        for (key, value) in pairs {
            let shown = LogRedaction.isSecret(key: key) ? LogRedaction.hidden : Self.shown(value)
            line += " \(Self.plain(Self.bounded(key, 128)))=\(Self.plain(shown))"
        }
        return line
    }

    private static func shown(_ value: Logger.MetadataValue) -> String {
        switch value {
        case .dictionary, .array:
            var json = JSONText()
            json.add(value, depth: 0)
            return json.text
        default: return bounded("\(value)", longestValue)
        }
    }

    /// The text with nothing that begins a new line, moves a cursor or turns the writing round.
    private static func plain(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        guard text.unicodeScalars.contains(where: isOdd) else { return text }
        return text.unicodeScalars.reduce(into: "") { plain, scalar in
            if isOdd(scalar) { plain += "\\u{\(String(scalar.value, radix: 16))}" } else { plain.unicodeScalars.append(scalar) }
        }
    }

    private static func isOdd(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }

    /// The text, masked, then cut: a secret that is cut in two would not be known as one.
    static func bounded(_ text: String, _ limit: Int) -> String {
        // What is far beyond the limit is not worth masking.
        let head = text.utf8.count > limit * 4 ? String(decoding: text.utf8.prefix(limit * 4), as: UTF8.self) : text
        let masked = LogRedaction.masked(head)
        guard masked.utf8.count > limit else { return masked }
        return String(masked.unicodeScalars.prefix(upTo: masked.scalarIndex(atMost: limit))) + "…"
    }
}

extension String {
    /// The last index between scalars with at most so many bytes before it.
    fileprivate func scalarIndex(atMost bytes: Int) -> String.Index {
        let end = utf8.index(startIndex, offsetBy: bytes)
        var index = end
        while index > startIndex, index.samePosition(in: unicodeScalars) == nil { index = utf8.index(before: index) }
        return index
    }
}
