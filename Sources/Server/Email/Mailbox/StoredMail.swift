public import Foundation

/// An email that ``MailboxFolder`` has read from its file.
///
/// The parser reads only the format that this module writes: two parts, each in quoted-printable or base64. It is not a general MIME
/// parser.
public struct StoredMail: Hashable, Sendable, Identifiable {
    /// The name of the file, without the extension.
    public let id: String
    /// The header `Date` as text (RFC 5322 §3.3), always in UTC.
    public let date: String
    /// The header `From`, decoded, such as `"Notes" <accounts@example.com>`.
    public let sender: String
    /// The header `To`.
    public let recipient: String
    /// The header `Subject`, decoded.
    public let subject: String
    /// The plain text, decoded. The lines end in LF. The text is empty if the email has no part with plain text.
    public let text: String
    /// The HTML, decoded. The lines end in LF. The text is empty if the email has no part with HTML.
    public let html: String

    /// Parses a message in the format of ``MIMEMessage``.
    /// - Parameters:
    ///   - id: The name of the file, without the extension.
    ///   - message: The contents of the file, with lines that end in CRLF.
    /// - Returns: `nil` if no empty line ends the headers, if a header line has no colon, or if one of the headers `Content-Type`,
    ///   `Subject`, `To`, `From` and `Date` is missing.
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

    /// The main link of the plain text: the first line that begins with `http://` or `https://`; `nil` if there is no such line or it isn't
    /// a URL.
    public var link: URL? {
        text.split(whereSeparator: \.isNewline)
            .first { $0.hasPrefix("http://") || $0.hasPrefix("https://") }
            .flatMap { URL(string: String($0)) }
    }

    /// Returns the body of the part with a content type. The line end before the boundary doesn't belong to the part.
    private static func body(of type: String, in parts: [Substring]) -> String {
        guard var part = parts.first(where: { $0.contains("Content-Type: \(type);") }).map(String.init) else { return "" }
        if part.hasSuffix("\r\n") { part.removeLast() }
        return MIMEMessage.body(ofPart: part)
    }

    /// Decodes the encoded words of a header (RFC 2047 §6). The function removes the space between two adjacent encoded words, as the RFC
    /// requires.
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
