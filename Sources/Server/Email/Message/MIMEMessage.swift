import AccountContract
package import AccountCore
import ErrorContract
package import Foundation
import Timekeeping

/// An email as an RFC 5322 message with a plain and an HTML body (`multipart/alternative`, RFC 2046 §5.1.4).
///
/// The message has only 7-bit characters. If the header fields are short, its lines have at most 76 characters. Therefore, each relay can
/// forward the message without encoding it again.
package struct MIMEMessage {
    /// The contents, with the sender and the recipient.
    package let mail: Mail
    /// The time of the header `Date`.
    package let date: Date
    /// A unique text without spaces. The message id and the boundary contain this text. Don't derive it from the contents, because the logs
    /// of all relays contain message ids.
    package let id: String

    /// Creates a message. ``text`` renders it.
    /// - Parameters:
    ///   - mail: The contents, with the sender and the recipient.
    ///   - date: The time of the header `Date`.
    ///   - id: A unique text without spaces, such as a new UUID.
    package init(mail: Mail, date: Date, id: String) {
        self.mail = mail
        self.date = date
        self.id = id
    }

    /// The text of the message, with CRLF line ends and 7-bit characters. Each access renders the text again.
    /// - Complexity: O(length of the bodies).
    package var text: String {
        // The encoded parts never contain this text.
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

    /// Returns a part with its headers, in quoted-printable or base64, whichever is shorter.
    private func part(_ type: String, _ body: String) -> String {
        // In transit, lines of text end in CRLF (RFC 2046 §4.1.1). The lines of the body may end differently.
        let body = body.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")
        let quoted = QuotedPrintable.encoded(body)
        let base64 = Data(body.utf8).base64EncodedString(options: [
            .lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed,
        ])
        // Quoted-printable keeps ASCII text legible. For Hebrew, base64 is half as long.
        let isQuoted = quoted.utf8.count <= base64.utf8.count
        return "Content-Type: \(type); charset=utf-8\r\n"
            + "Content-Transfer-Encoding: \(isQuoted ? "quoted-printable" : "base64")\r\n\r\n\(isQuoted ? quoted : base64)"
    }

    /// Returns the address of a sender, without the name. The function doesn't validate the address.
    /// - Parameter sender: `Name <address>`, or an address alone.
    package static func address(of sender: String) -> String {
        guard let open = sender.lastIndex(of: "<") else { return sender.trimmingCharacters(in: .whitespaces) }
        return sender[sender.index(after: open)...].prefix { $0 != ">" }.trimmingCharacters(in: .whitespaces)
    }

    /// Returns the domain of a sender's address.
    /// - Parameter sender: `Name <address>`, or an address alone.
    /// - Returns: `nil` if the address has no `@`, or characters that the header `Message-ID` can't contain.
    package static func domain(of sender: String) -> String? {
        let address = address(of: sender)
        guard address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let at = address.lastIndex(of: "@") else { return nil }
        let domain = address[address.index(after: at)...]
        return domain.isEmpty || !domain.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" })
            ? nil : String(domain)
    }

    /// Returns the decoded body of a part. The lines of the body end in LF.
    /// - Parameter part: The headers of the part, an empty line and the encoded body.
    /// - Returns: An empty text if the part has no body or invalid base64.
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

    /// Encodes a header text.
    ///
    /// Text with characters beyond ASCII becomes encoded words (RFC 2047) of at most 75 characters each. Line ends become spaces, so a name
    /// or a subject can't add a header.
    package static func unstructured(_ text: String) -> String {
        let line = String(text.map { $0.isNewline || $0 == "\0" ? " " : $0 })
        let isPlain = line.utf8.allSatisfy { (0x20...0x7E).contains($0) } && !line.contains("=?")
        guard !isPlain else { return line }
        var words: [String] = []
        var chunk = ""
        // Split the text by scalars, because a character can be arbitrarily long. With at most 39 bytes per word, a field name still fits
        // into the 76 characters of a line.
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

    /// Encodes `Name <address>`, or an address alone. A name in ASCII is quoted (RFC 5322 §3.2.4); another name becomes encoded words. The
    /// name may already be quoted.
    private static func mailbox(_ sender: String) -> String {
        guard let open = sender.lastIndex(of: "<"), open > sender.startIndex else { return unstructured(sender) }
        let name = unquoted(sender[..<open].trimmingCharacters(in: .whitespaces))
        let address = unstructured(String(sender[open...]))
        let isPlain = name.utf8.allSatisfy { $0 < 0x80 }
        let escaped = name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\(isPlain ? "\"\(unstructured(escaped))\"" : unstructured(name)) \(address)"
    }

    /// Returns the content of a quoted string (RFC 5322 §3.2.4), such as `Notes, Inc.` for `"Notes, Inc."`. Any other name stays unchanged.
    private static func unquoted(_ name: String) -> String {
        guard name.count >= 2, name.hasPrefix("\""), name.hasSuffix("\"") else { return name }
        var content = ""
        var isEscaped = false
        for character in name.dropFirst().dropLast() {
            if !isEscaped, character == "\"" { return name }
            isEscaped = !isEscaped && character == "\\"
            if !isEscaped { content.append(character) }
        }
        return isEscaped ? name : content
    }

    private static func dateText(_ date: Date) -> String {
        HTTPDate.text(date).replacing("GMT", with: "+0000")
    }
}
