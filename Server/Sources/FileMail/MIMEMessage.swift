import AccountContract
import AccountCore
import ErrorContract
import Foundation

/// A mail as an RFC 5322 message with two bodies (`multipart/alternative`, RFC 2046 §5.1.4).
struct MIMEMessage {
    let mail: Mail
    let date: Date
    /// A unique text without spaces, from which the message id and the boundary are made.
    let id: String

    /// The message, lines ended by CRLF, seven bits wide.
    var text: String {
        let boundary = "holdfast-\(id)"
        let lines: [String] = [
            "Date: \(Self.dateText(date))",
            "From: \(Self.mailbox(mail.sender))",
            "To: \(mail.recipient.text)",
            "Subject: \(Self.unstructured(mail.subject))",
            "Message-ID: <\(id)@holdfast.invalid>",
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
        let encoded = Data(body.utf8).base64EncodedString(options: [
            .lineLength76Characters, .endLineWithCarriageReturn, .endLineWithLineFeed,
        ])
        return "Content-Type: \(type); charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n\(encoded)"
    }

    /// A header text; beyond ASCII as encoded words (RFC 2047) of at most 75 characters. Line ends become spaces, so that no
    /// name or subject can add a header.
    static func unstructured(_ text: String) -> String {
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
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss '+0000'"
        return formatter.string(from: date)
    }
}
