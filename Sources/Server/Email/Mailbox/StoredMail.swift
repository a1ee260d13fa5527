public import Foundation

/// An email of the local mailbox, read from its file.
public struct StoredMail: Hashable, Sendable, Identifiable {
    /// The name of its file, without the extension.
    public let id: String
    /// The header `Date`.
    public let date: String
    /// The header `From`.
    public let sender: String
    /// The header `To`.
    public let recipient: String
    /// The header `Subject`, decoded.
    public let subject: String
    /// The plain text, decoded.
    public let text: String
    /// The HTML, decoded.
    public let html: String

    /// Parses a message in the format of ``MIMEMessage``; `nil` for any other text.
    init?(id: String, message: String) {
        guard let end = message.firstRange(of: "\r\n\r\n") else { return nil }
        var fields: [String: String] = [:]
        for line in message[..<end.lowerBound].replacing("\r\n ", with: " ").split(separator: "\r\n") {
            let halves = line.split(separator: ":", maxSplits: 1)
            guard halves.count == 2 else { return nil }
            fields[halves[0].lowercased()] = halves[1].trimmingCharacters(in: .whitespaces)
        }
        guard let boundary = fields["content-type"]?.split(separator: "\"").last,
            let subject = fields["subject"], let recipient = fields["to"], let sender = fields["from"], let date = fields["date"]
        else { return nil }
        let parts = message[end.upperBound...].split(separator: "--\(boundary)")
        self.id = id
        self.date = date
        self.sender = Self.decodedWords(sender)
        self.recipient = recipient
        self.subject = Self.decodedWords(subject)
        self.text = Self.body(of: "text/plain", in: parts)
        self.html = Self.body(of: "text/html", in: parts)
    }

    /// The first web link that is alone on its line, which is the main link of the server's emails.
    public var link: URL? {
        text.split(whereSeparator: \.isNewline)
            .first { $0.hasPrefix("http://") || $0.hasPrefix("https://") }
            .flatMap { URL(string: String($0)) }
    }

    /// Returns the body of the part with a content type. A part ends with the line end before its boundary.
    private static func body(of type: String, in parts: [Substring]) -> String {
        guard var part = parts.first(where: { $0.contains("Content-Type: \(type);") }).map(String.init) else { return "" }
        if part.hasSuffix("\r\n") { part.removeLast() }
        return MIMEMessage.body(ofPart: part)
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
