/// Distinguishes texts for users from internal texts of a server, such as pages, stack traces and database errors.
///
/// The check is a heuristic. If it is uncertain, it hides the text, because the library has its own text for each error.
enum UserFacingText {
    /// The maximum length of a text that is shown, in bytes.
    static let longest = 2_048

    /// Returns whether a text contains markup, a stack trace, a database error or control characters.
    /// - Complexity: O(length of the text).
    static func isInternal(_ text: String) -> Bool {
        var copy = text
        return copy.withUTF8 { bytes in
            for index in bytes.indices where isSuspect(bytes[index]) {
                if isInternal(bytes, at: index) { return true }
            }
            return false
        }
    }

    /// Returns whether an internal text can begin with this byte. Most bytes can't, so the check is fast.
    private static func isSuspect(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "<") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "g")
            || byte == UInt8(ascii: "E") || byte == UInt8(ascii: "S") || byte == UInt8(ascii: "T")
    }

    /// Returns whether an internal text, such as a stack trace, begins at an index.
    private static func isInternal(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        switch bytes[index] {
        case UInt8(ascii: "<"):
            guard index + 1 < bytes.count else { return false }
            switch bytes[index + 1] {
            case 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "/"), UInt8(ascii: "!"), UInt8(ascii: "?"): return true
            default: return false
            }
        case 0x0A: return bytes.stands("\n    at ", at: index) || bytes.stands("\n\tat ", at: index)
        case 0x09, 0x0D: return false
        case 0x00..<0x20: return true
        case UInt8(ascii: "T"): return bytes.stands("Traceback (", at: index)
        case UInt8(ascii: "S"): return bytes.stands("Stack trace:", at: index) || bytes.stands("SQLSTATE[", at: index)
        case UInt8(ascii: "E"): return bytes.stands("Exception:", at: index)
        case UInt8(ascii: "#"): return bytes.stands("#0 /", at: index)
        case UInt8(ascii: "g"): return bytes.stands("goroutine 1 [", at: index)
        default: return false
        }
    }

    /// Removes two things from an error: texts that an app must not show to users, and codes of field problems that an app must not log.
    /// Also shortens long names of fields.
    static func cleanse(_ error: inout DecodedError) {
        if let text = error.message {
            let isFit = text.utf8.count <= longest && text.contains { !$0.isWhitespace } && !isInternal(text)
            if !isFit { error.message = nil }
        }
        for index in error.violations.indices {
            let (text, field) = (error.violations[index].message, error.violations[index].field.utf8)
            if field.count > FieldName.longest {
                error.violations[index].field = FieldName.shortened(Array(field.prefix(FieldName.longest + 1)))
            }
            if text.utf8.count > longest || isInternal(text) { error.violations[index].message = "" }
            if let code = error.violations[index].code, !ErrorDecoder.isCode(code.rawValue) { error.violations[index].code = nil }
        }
    }
}
