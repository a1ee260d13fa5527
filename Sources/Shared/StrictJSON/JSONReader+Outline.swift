/// Parses only some members of an object.
extension JSONReader {
    /// Returns those members of an object that have one of the given names. If the value of a member is an array or object, the result
    /// contains an empty array or object instead.
    ///
    /// The reader skips the other members: it only searches for their ends. O(n) for n bytes.
    mutating func outline(_ names: JSONNames) throws(JSONSyntaxError) -> JSONObject {
        var outline = JSONObject()
        skipSpace()
        guard take(UInt8(ascii: "{")) else { throw error(.unexpectedCharacter) }
        skipSpace()
        if take(UInt8(ascii: "}")) { return outline }
        while true {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw error(.unexpectedCharacter) }
            let name = try name(among: names)
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error(.unexpectedCharacter) }
            skipSpace()
            if let name { outline[name] = try shell() } else { try skipValue() }
            skipSpace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "}")) else { throw error(.unexpectedCharacter) }
            return outline
        }
    }

    /// Returns a member's name if it is one of the given names, otherwise `nil`. If no given name begins with the first byte of the
    /// member's name, the reader skips the member's name without decoding it. The reader always decodes a name that begins with an escape.
    private mutating func name(among names: JSONNames) throws(JSONSyntaxError) -> String? {
        let first = position + 1 < bytes.count ? bytes[position + 1] : 0
        guard first == UInt8(ascii: "\\") || names.mayBegin(with: first) else {
            try skipString()
            return nil
        }
        let name = try string()
        return names.texts.contains(name) ? name : nil
    }

    /// Returns a value. For an array or an object, the reader skips the contents and returns an empty array or object.
    private mutating func shell() throws(JSONSyntaxError) -> JSONValue {
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        switch bytes[position] {
        case UInt8(ascii: "{"):
            try skipValue()
            return .object([:])
        case UInt8(ascii: "["):
            try skipValue()
            return .array([])
        default: return try value(depth: 1)
        }
    }

    /// Skips a value of any depth without recursion. The reader checks only brackets and quotes. It doesn't compare the kinds of brackets,
    /// so it accepts `[1}`.
    private mutating func skipValue() throws(JSONSyntaxError) {
        var depth = 0
        repeat {
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            switch bytes[position] {
            case UInt8(ascii: "\""): try skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "["): (depth, position) = (depth + 1, position + 1)
            case UInt8(ascii: "}"), UInt8(ascii: "]"): (depth, position) = (depth - 1, position + 1)
            default: skipPlain()
            }
        } while depth > 0
        guard depth == 0 else { throw error(.unexpectedCharacter) }
    }

    /// Skips a string, from its opening to its closing quote. The reader skips each backslash together with the byte after it, and
    /// validates nothing.
    private mutating func skipString() throws(JSONSyntaxError) {
        position += 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
        throw error(.unexpectedEnd)
    }

    /// Skips at least one byte, up to the next bracket, quote, comma or colon.
    private mutating func skipPlain() {
        repeat {
            position += 1
        } while position < bytes.count && !Self.isMark(bytes[position])
    }

    /// Returns whether a byte ends the number or the literal that the reader skips.
    private static func isMark(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ","),
            UInt8(ascii: ":"):
            true
        default: false
        }
    }
}

/// Names of members that a reader searches for.
package struct JSONNames: ExpressibleByArrayLiteral, Sendable {
    /// The names.
    let texts: Set<String>
    /// One bit for each value of a byte modulo 64. The bits of the first bytes of all names are 1.
    private let firstBytes: UInt64

    /// Creates a list of names.
    package init(arrayLiteral texts: String...) {
        self.texts = Set(texts)
        firstBytes = texts.reduce(0) { $0 | 1 << UInt64(($1.utf8.first ?? 0) & 63) }
    }

    /// Returns whether a name may begin with a byte. For some bytes, the result is `true` although no name begins with them.
    func mayBegin(with byte: UInt8) -> Bool { firstBytes & 1 << UInt64(byte & 63) != 0 }
}
