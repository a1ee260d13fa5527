/// Tells texts for people from what a server says to itself.
enum PersonText {
    /// The longest text of another server that is shown, in bytes.
    static let longest = 2_048

    /// Whether a text holds markup, a stack trace, a database's words or control characters.
    static func isInternal(_ text: String) -> Bool {
        var copy = text
        return copy.withUTF8 { bytes in bytes.indices.contains { isInternal(bytes, at: $0) } }
    }

    private static func isInternal(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        switch bytes[index] {
        case UInt8(ascii: "<"):
            guard index + 1 < bytes.count else { return false }
            switch bytes[index + 1] {
            case 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "/"), UInt8(ascii: "!"), UInt8(ascii: "?"): return true
            default: return false
            }
        case 0x0A: return starts(bytes, at: index, with: "\n    at ") || starts(bytes, at: index, with: "\n\tat ")
        case 0x09, 0x0D: return false
        case 0x00..<0x20: return true
        case UInt8(ascii: "T"): return starts(bytes, at: index, with: "Traceback (")
        case UInt8(ascii: "S"):
            return starts(bytes, at: index, with: "Stack trace:") || starts(bytes, at: index, with: "SQLSTATE[")
        case UInt8(ascii: "E"): return starts(bytes, at: index, with: "Exception:")
        case UInt8(ascii: "#"): return starts(bytes, at: index, with: "#0 /")
        case UInt8(ascii: "g"): return starts(bytes, at: index, with: "goroutine 1 [")
        default: return false
        }
    }

    private static func starts(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int, with text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes.count - index >= $0.count && bytes[index..<index + $0.count].elementsEqual($0) }
    }

    /// Takes from an error whatever no person should read.
    static func cleanse(_ error: inout DecodedError) {
        if let text = error.message {
            let isFit = error.family.isOwn || text.utf8.count <= longest && text.contains { !$0.isWhitespace }
            if !isFit || isInternal(text) { error.message = nil }
        }
        for index in error.violations.indices {
            let text = error.violations[index].message
            if isInternal(text) || !error.family.isOwn && text.utf8.count > longest { error.violations[index].message = "" }
            if let code = error.violations[index].code, !ErrorDecoder.isCode(code.rawValue) { error.violations[index].code = nil }
        }
    }
}
