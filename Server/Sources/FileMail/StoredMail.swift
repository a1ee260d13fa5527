public import Foundation

/// A mail of the local mailbox, read back from its file.
public struct StoredMail: Hashable, Sendable, Identifiable {
    public let id: String
    public let date: String
    public let sender: String
    public let recipient: String
    public let subject: String
    public let text: String
    public let html: String

    /// Reads a message as ``MIMEMessage`` writes it; `nil` if it is anything else.
    init?(id: String, message: String) {
        let unfolded = message.replacing("\r\n ", with: " ")
        guard let end = unfolded.firstRange(of: "\r\n\r\n") else { return nil }
        var fields: [String: String] = [:]
        for line in unfolded[..<end.lowerBound].split(separator: "\r\n") {
            let halves = line.split(separator: ":", maxSplits: 1)
            guard halves.count == 2 else { return nil }
            fields[halves[0].lowercased()] = halves[1].trimmingCharacters(in: .whitespaces)
        }
        guard let boundary = fields["content-type"]?.split(separator: "\"").last,
            let subject = fields["subject"], let recipient = fields["to"], let sender = fields["from"], let date = fields["date"]
        else { return nil }
        let parts = unfolded[end.upperBound...].split(separator: "--\(boundary)")
        self.id = id
        self.date = date
        self.sender = Self.decodedWords(sender)
        self.recipient = recipient
        self.subject = Self.decodedWords(subject)
        self.text = Self.body(of: parts.first { $0.contains("text/plain") })
        self.html = Self.body(of: parts.first { $0.contains("text/html") })
    }

    /// The first web link that stands on a line of its own, which in our mails is the link that they are about.
    public var link: URL? {
        text.split(whereSeparator: \.isNewline)
            .first { $0.hasPrefix("http://") || $0.hasPrefix("https://") }
            .flatMap { URL(string: String($0)) }
    }

    private static func body(of part: Substring?) -> String {
        guard let part, let start = part.firstRange(of: "\r\n\r\n"),
            let data = Data(base64Encoded: String(part[start.upperBound...]), options: .ignoreUnknownCharacters)
        else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    private static func decodedWords(_ text: String) -> String {
        text.split(separator: " ").reduce(into: (text: "", wasEncoded: false)) { result, word in
            let pieces = word.split(separator: "?", omittingEmptySubsequences: false)
            guard pieces.count == 5, pieces[0] == "=", let data = Data(base64Encoded: String(pieces[3])) else {
                result = (result.text + (result.text.isEmpty ? "" : " ") + word, false)
                return
            }
            let separator = result.wasEncoded || result.text.isEmpty ? "" : " "
            result = (result.text + separator + String(decoding: data, as: UTF8.self), true)
        }.text
    }
}
