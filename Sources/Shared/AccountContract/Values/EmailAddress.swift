public import ErrorContract
import Foundation

/// An email address that identifies an account. Client and server validate it by the same rules.
///
/// After NFKC normalization, the local part consists of the ASCII characters `[A-Za-z0-9._%+-]+`. The domain is in punycode with a
/// top-level label of 2 to 63 characters. The address has at most 254 bytes. The initializer refuses invisible and bidirectional
/// characters. Two addresses are equal if they differ only in the case of letters.
///
/// ```swift
/// let email = try EmailAddress(" Ana@Example.com ")
/// print(email.text)  // Ana@example.com
/// print(email.normalized)  // ana@example.com
/// ```
///
/// The initializer also refuses quoted local parts (RFC 5321), and non-ASCII characters before the `@` (RFC 6531). Addresses that differ in
/// dots or `+` tags are different. The type doesn't check whether the domain exists.
public struct EmailAddress: Sendable {
    /// The address to which emails are sent: the local part as the user typed it, the domain in lower-case ASCII.
    public let text: String
    /// The address that identifies the account: `text` in lower case.
    public let normalized: String

    /// Validates an address, and ignores surrounding spaces. O(length).
    ///
    /// - Parameter typed: The text as the user typed it. After the removal of surrounding spaces, the text must have at most 1,024 bytes.
    /// - Throws: ``EmailRefusal`` with the first reason.
    public init(_ typed: String) throws(EmailRefusal) {
        guard !Self.isPlain(typed) else {
            (text, normalized) = (typed, typed)
            return
        }
        let composed = try Self.composed(typed)
        let parts = composed.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let local = parts.first, let domain = parts.last else { throw .notOneAtSign }
        guard !local.isEmpty, local.utf8.count <= 64, local.utf8.allSatisfy(Self.isLocal) else { throw .localPart }
        guard let ascii = DomainName.ascii(String(domain)) else { throw .domain }
        let text = "\(local)@\(ascii)"
        guard text.utf8.count <= 254 else { throw .tooLong }
        self.text = text
        self.normalized = text.lowercased()
    }

    /// Returns whether a text is already a normalized address: valid, in lower-case ASCII, and without punycode. This is the case for most
    /// addresses. For all other texts, the initializer performs the full check.
    private static func isPlain(_ text: String) -> Bool {
        var (local, label, labels, count) = (0, 0, 0, 0)
        var isLetters = true
        var last: UInt8 = 0
        for byte in text.utf8 {
            count += 1
            if labels == 0 {
                if byte == UInt8(ascii: "@") {
                    labels = 1
                } else if isLocal(byte), !(0x41...0x5A).contains(byte) {
                    local += 1
                } else {
                    return false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "."):
                guard label > 0, last != UInt8(ascii: "-") else { return false }
                (label, labels, isLetters) = (0, labels + 1, true)
                continue
            case 0x61...0x7A: break
            case 0x30...0x39: isLetters = false
            case UInt8(ascii: "-"):
                // A label must not begin with a hyphen. If its third character is a hyphen, the label may be punycode (`xn--`).
                guard label != 0, label != 2 else { return false }
                isLetters = false
            default: return false
            }
            (label, last) = (label + 1, byte)
            guard label <= 63 else { return false }
        }
        return (1...64).contains(local) && labels >= 2 && label >= 2 && isLetters && count <= 254 && count - local - 1 <= 253
    }

    /// Returns the text in NFKC without surrounding white space. Most addresses consist of visible ASCII and don't change.
    private static func composed(_ typed: String) throws(EmailRefusal) -> String {
        if typed.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            guard !typed.isEmpty else { throw .empty }
            guard typed.utf8.count <= 1_024 else { throw .tooLong }
            return typed
        }
        let trimmed = trimmed(typed)
        guard !trimmed.isEmpty else { throw .empty }
        guard trimmed.utf8.count <= 1_024 else { throw .tooLong }
        guard trimmed.unicodeScalars.allSatisfy(isVisible) else { throw .forbiddenCharacter }
        return trimmed.precomposedStringWithCompatibilityMapping
    }

    /// Returns the text without surrounding white space. Foundation's character sets also treat the zero-width space as white space. This
    /// method doesn't, because the initializer refuses invisible characters.
    private static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }

    /// Returns whether a byte is allowed before the `@`.
    private static func isLocal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "._%+-".utf8.contains(byte)
        }
    }

    /// Returns whether a character is visible: no white space, and no control, format or unassigned character.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.properties.isDefaultIgnorableCodePoint, !scalar.properties.isWhitespace else { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator, .spaceSeparator:
            return false
        default: return true
        }
    }
}

extension EmailAddress: Hashable {
    /// Compares the normalized addresses.
    public static func == (left: EmailAddress, right: EmailAddress) -> Bool { left.normalized == right.normalized }
    /// Hashes the normalized address.
    public func hash(into hasher: inout Hasher) { hasher.combine(normalized) }
}

extension EmailAddress: Codable {
    /// Decodes and validates the address of a JSON string.
    /// - Throws: `DecodingError` if the value isn't a string; ``EmailRefusal`` if the address is invalid.
    public init(from decoder: any Decoder) throws {
        try self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes ``text`` as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension EmailAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder for the address. Descriptions are often logged, and an address is personal data. Use ``text`` to show the address.
    public var description: String { "EmailAddress(hidden)" }
    /// A placeholder for the address.
    public var debugDescription: String { description }
    /// A mirror without members.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The reason why a text was refused as an email address. It contains no part of the text, so it can be logged.
public enum EmailRefusal: String, Error, Hashable, Sendable, CaseIterable, ContractRefusal {
    /// The text is empty or consists of spaces.
    case empty
    /// The address has more than 254 bytes, or the text has more than 1,024 bytes.
    case tooLong = "too_long"
    /// The text contains a control, invisible, bidirectional or space character.
    case forbiddenCharacter = "forbidden_character"
    /// The text doesn't contain exactly one `@`.
    case notOneAtSign = "not_one_at_sign"
    /// The part before the `@` is empty, has more than 64 bytes, or contains characters that are not allowed.
    case localPart = "local_part"
    /// The part after the `@` is not a domain name with a top-level label of 2 to 63 characters.
    case domain

    /// The code of the violation.
    public var code: ErrorCode { self == .empty ? .validationMissingField : .validationInvalidEmail }
}
