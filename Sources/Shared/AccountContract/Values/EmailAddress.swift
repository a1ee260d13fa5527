public import ErrorContract
import Foundation

/// An e-mail address that identifies an account; client and server read it by the same rules.
///
/// After NFKC the local part is ASCII of the grammar `[A-Za-z0-9._%+-]+`; the domain is in punycode with a top-level label
/// of 2–63; the whole has at most 254 bytes. Invisible and bidirectional characters are refused. Two addresses are equal if
/// they differ in case alone.
public struct EmailAddress: Sendable {
    /// The address as mail is sent to it: the local part as it was typed, the domain in lower-case ASCII.
    public let text: String
    /// The address as it identifies an account: `text` in lower case.
    public let normalized: String

    /// Reads an address; spaces around it do not count. O(length).
    /// - Throws: ``EmailRefusal``.
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

    /// Whether a text is an address as it would be written here, which nearly all are: lower-case ASCII without punycode. Everything else
    /// takes the longer path, whatever is wrong with it.
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
                // Third and fourth place: a label of punycode, or one that looks like it.
                guard label != 0, label != 2 else { return false }
                isLetters = false
            default: return false
            }
            (label, last) = (label + 1, byte)
            guard label <= 63 else { return false }
        }
        return (1...64).contains(local) && labels >= 2 && label >= 2 && isLetters && count <= 254 && count - local - 1 <= 253
    }

    /// The text without white space around it, in NFKC. Visible ASCII is that already, as nearly all addresses are.
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

    /// The text without white space around it. Foundation's sets count the zero-width space as white space; here it is an
    /// invisible character like the others.
    private static func trimmed(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }

    private static func isLocal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "._%+-".utf8.contains(byte)
        }
    }

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
    public static func == (left: EmailAddress, right: EmailAddress) -> Bool { left.normalized == right.normalized }
    public func hash(into hasher: inout Hasher) { hasher.combine(normalized) }
}

extension EmailAddress: Codable {
    /// Reads an address from its JSON string.
    public init(from decoder: any Decoder) throws {
        try self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes ``text`` as a JSON string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension EmailAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Never the address: it is personal, and descriptions end up in logs. Use ``text`` to show it.
    public var description: String { "EmailAddress(hidden)" }
    /// Never the address.
    public var debugDescription: String { description }
    /// Shows no member.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Why a text is not an e-mail address that is accepted.
public enum EmailRefusal: String, Error, Hashable, Sendable, CaseIterable, ContractRefusal {
    /// Nothing but spaces.
    case empty
    /// More than 254 bytes.
    case tooLong = "too_long"
    /// A control, invisible, bidirectional or space character.
    case forbiddenCharacter = "forbidden_character"
    /// No `@`, or more than one.
    case notOneAtSign = "not_one_at_sign"
    /// What stands before the `@` is not of the grammar.
    case localPart = "local_part"
    /// What stands after the `@` is not a domain name with a top-level label of 2–63.
    case domain

    /// The code of the violation.
    public var code: ErrorCode { self == .empty ? .validationMissingField : .validationInvalidEmail }
}
