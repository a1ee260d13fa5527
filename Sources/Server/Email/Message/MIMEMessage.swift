import AccountContract
package import AccountCore
import ErrorContract
package import Foundation
import Timekeeping

/// A mail as an RFC 5322 message with two bodies (`multipart/alternative`, RFC 2046 §5.1.4).
package struct MIMEMessage {
    package let mail: Mail
    package let date: Date
    /// A unique text without spaces, from which the message id and the boundary are made. It has nothing to do with what the mail
    /// says: ids stand in the logs of every relay.
    package let id: String

    /// Creates a message.
    package init(mail: Mail, date: Date, id: String) {
        self.mail = mail
        self.date = date
        self.id = id
    }

    /// The message, lines ended by CRLF, seven bits wide.
    package var text: String {
        // Neither encoding of a part can contain this.
        let boundary = "=_holdfast-\(id)"
        let lines: [String] = [
            "Date: \(Self.dateText(date))",
            "From: \(Self.mailbox(mail.sender))",
            "To: \(mail.recipient.text)",
            "Subject: \(Self.unstructured(mail.subject))",
            "Message-ID: <\(id)@\(Self.domain(of: mail.sender) ?? "holdfast.invalid")>",
            "Auto-Submitted: auto-generated",
            "Content-Language: \(Self.unstructured(mail.language.rawValue))",
            "MIME-Version: 1.0",
            "Content-Type: multipart/alternative; boundary=\"\(boundary)\"",
            "",
            "--\(boundary)",
            part("text/plain", mail.text),
            "--\(boundary)",
            part("text/html", mail.html),
            "--\(boundary)--",
            "",
        ]
        return lines.joined(separator: "\r\n")
    }

    private func part(_ type: String, _ body: String) -> String {
        // Lines of a text end in CRLF on the way, whatever they end in here (RFC 2046 §4.1.1).
        let body = body.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")
        let quoted = QuotedPrintable.encoded(body)
        let base64 = Data(body.utf8).base64EncodedString(options: [
            .lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed,
        ])
        // What is mostly ASCII stays legible; for Hebrew base64 is half as long.
        let isQuoted = quoted.utf8.count <= base64.utf8.count
        return "Content-Type: \(type); charset=utf-8\r\n"
            + "Content-Transfer-Encoding: \(isQuoted ? "quoted-printable" : "base64")\r\n\r\n\(isQuoted ? quoted : base64)"
    }

    /// The address of a sender, without its name.
    package static func address(of sender: String) -> String {
        guard let open = sender.lastIndex(of: "<") else { return sender.trimmingCharacters(in: .whitespaces) }
        return sender[sender.index(after: open)...].prefix { $0 != ">" }.trimmingCharacters(in: .whitespaces)
    }

    /// The domain of a sender's address, if there is one that a header can hold.
    package static func domain(of sender: String) -> String? {
        let address = address(of: sender)
        guard address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let at = address.lastIndex(of: "@") else { return nil }
        let domain = address[address.index(after: at)...]
        return domain.isEmpty || !domain.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" })
            ? nil : String(domain)
    }

    /// The body of a part as it was before it was encoded, its lines ended by a line feed.
    package static func body(ofPart part: String) -> String {
        guard let start = part.firstRange(of: "\r\n\r\n") else { return "" }
        let encoded = String(part[start.upperBound...])
        let isQuoted = part[..<start.lowerBound].contains("quoted-printable")
        let decoded =
            isQuoted
            ? QuotedPrintable.decoded(encoded)
            : Data(base64Encoded: encoded, options: .ignoreUnknownCharacters).map { String(decoding: $0, as: UTF8.self) } ?? ""
        return decoded.replacing("\r\n", with: "\n")
    }

    /// A header text; beyond ASCII as encoded words (RFC 2047) of at most 75 characters. Line ends become spaces, so that no
    /// name or subject can add a header.
    package static func unstructured(_ text: String) -> String {
        let line = String(text.map { $0.isNewline || $0 == "\0" ? " " : $0 })
        let isPlain = line.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !line.contains("=?")
        guard !isPlain else { return line }
        var words: [String] = []
        var chunk = ""
        // By scalars, since a character has no greatest length; 39 bytes leave room for a field name in a line of 76.
        for scalar in line.unicodeScalars {
            if chunk.utf8.count + UTF8.width(scalar) > 39 {
                words.append(chunk)
                chunk = ""
            }
            chunk.unicodeScalars.append(scalar)
        }
        words.append(chunk)
        return words.map { "=?utf-8?B?\(Data($0.utf8).base64EncodedString())?=" }.joined(separator: "\r\n ")
    }

    /// `Name <address>` with the name encoded, or an address alone.
    private static func mailbox(_ sender: String) -> String {
        guard let open = sender.lastIndex(of: "<"), open > sender.startIndex else { return unstructured(sender) }
        let name = sender[..<open].trimmingCharacters(in: .whitespaces)
        let address = unstructured(String(sender[open...]))
        let isPlain = name.utf8.allSatisfy { $0 < 0x80 }
        let escaped = name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\(isPlain ? "\"\(unstructured(escaped))\"" : unstructured(name)) \(address)"
    }

    private static func dateText(_ date: Date) -> String {
        HTTPDate.text(date).replacing("GMT", with: "+0000")
    }
}
