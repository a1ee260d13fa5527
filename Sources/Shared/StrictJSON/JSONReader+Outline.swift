/// Parses only some members of an object.
extension JSONReader {
    /// Returns the members of an object with the given names. If the value of a member is an array or object, the result contains an empty
    /// one.
    ///
    /// The other members are skipped. The reader only searches for their ends. It takes O(n) for n bytes.
    mutating func outline(_ names: Set<String>) throws(JSONSyntaxError) -> JSONObject {
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

    /// Returns a member's name if it is one of the given names, otherwise `nil`. If no given name has the same first byte, the name is
    /// skipped without decoding. A name that begins with an escape is always decoded.
    private mutating func name(among names: Set<String>) throws(JSONSyntaxError) -> String? {
        let first = position + 1 < bytes.count ? bytes[position + 1] : 0
        guard first == UInt8(ascii: "\\") || names.contains(where: { $0.utf8.first == first }) else {
            try skipString()
            return nil
        }
        let name = try string()
        return names.contains(name) ? name : nil
    }

    /// Returns a value. Arrays and objects are skipped and become empty.
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

    /// Skips a value of any depth without recursion. Only its brackets and quotes are checked. The kinds of brackets are not compared, so
    /// `[1}` is accepted.
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

    /// Skips a string, from its opening to its closing quote. Escapes are skipped with the byte that follows them, and nothing is
    /// validated.
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

    /// Returns whether a byte ends a number or a literal that is skipped.
    private static func isMark(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ","),
            UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
