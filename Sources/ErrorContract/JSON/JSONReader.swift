/// The cursor of ``JSONParser`` over one text.
struct JSONReader {
    private let bytes: [UInt8]
    private let maximumDepth: Int
    private let duplicates: JSONParser.Duplicates
    private var position = 0

    init(bytes: [UInt8], maximumDepth: Int, duplicates: JSONParser.Duplicates) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        self.duplicates = duplicates
    }

    var isAtEnd: Bool { position >= bytes.count }

    func error(_ reason: JSONSyntaxError.Reason) -> JSONSyntaxError {
        JSONSyntaxError(reason: isAtEnd && reason == .unexpectedCharacter ? .unexpectedEnd : reason, offset: position)
    }

    mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        skipSpace()
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        switch bytes[position] {
        case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    private static let handful = 16

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONObject {
        guard depth <= maximumDepth else { throw error(.tooDeep) }
        position += 1
        var members: [(key: String, value: JSONValue)] = []
        var positions: [String: Int] = [:]
        skipSpace()
        if take(UInt8(ascii: "}")) { return JSONObject(distinct: members) }
        while true {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw error(.unexpectedCharacter) }
            let key = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error(.unexpectedCharacter) }
            let value = try value(depth: depth)
            // Of a handful of members, looking at each is quicker than hashing them.
            if members.count == Self.handful { for (index, member) in members.enumerated() { positions[member.key] = index } }
            let earlier = members.count < Self.handful ? members.firstIndex { $0.key == key } : positions[key]
            if let earlier {
                guard duplicates == .lastWins else { throw error(.duplicateKey) }
                members[earlier].value = value
            } else {
                if members.count >= Self.handful { positions[key] = members.count }
                members.append((key, value))
            }
            skipSpace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "}")) else { throw error(.unexpectedCharacter) }
            return JSONObject(distinct: members)
        }
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> [JSONValue] {
        guard depth <= maximumDepth else { throw error(.tooDeep) }
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try value(depth: depth))
            skipSpace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "]")) else { throw error(.unexpectedCharacter) }
            return elements
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    private mutating func literal(_ text: String, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        for byte in text.utf8 {
            guard take(byte) else { throw error(.unexpectedCharacter) }
        }
        return value
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = position
        var isInteger = true
        _ = take(UInt8(ascii: "-"))
        let leadingZero = position < bytes.count && bytes[position] == UInt8(ascii: "0")
        let integerDigits = digits()
        guard integerDigits > 0 else { throw error(.unexpectedCharacter) }
        guard !leadingZero || integerDigits == 1 else { throw error(.invalidNumber) }
        if take(UInt8(ascii: ".")) {
            isInteger = false
            guard digits() > 0 else { throw error(.invalidNumber) }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() > 0 else { throw error(.invalidNumber) }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw error(.invalidNumber) }
        return .number(value)
    }

    private mutating func digits() -> Int {
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
        return position - start
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let end = position
                position += 1
                guard let text = String(validating: bytes[start..<end], as: UTF8.self) else { throw error(.invalidString) }
                return text
            case UInt8(ascii: "\\"): return try escapedString(from: start)
            case 0x00..<0x20: throw error(.invalidString)
            default: position += 1
            }
        }
        throw error(.unexpectedEnd)
    }

    /// The slow path, from the first backslash on.
    private mutating func escapedString(from start: Int) throws(JSONSyntaxError) -> String {
        var buffer = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: buffer, as: UTF8.self) else { throw error(.invalidString) }
                return text
            case UInt8(ascii: "\\"): buffer.append(contentsOf: try escape())
            case 0x00..<0x20: throw error(.invalidString)
            default: buffer.append(byte)
            }
        }
        throw error(.unexpectedEnd)
    }

    private mutating func escape() throws(JSONSyntaxError) -> [UInt8] {
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return Array(String(Character(try unicodeEscape())).utf8)
        default: throw error(.invalidString)
        }
    }

    private mutating func unicodeEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let unit = try fourHexDigits()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard (0xD800..<0xDC00).contains(unit), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw error(.invalidString)
        }
        let low = try fourHexDigits()
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        else { throw error(.invalidString) }
        return scalar
    }

    private mutating func fourHexDigits() throws(JSONSyntaxError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard position < bytes.count else { throw error(.unexpectedEnd) }
            let digit: UInt8
            switch bytes[position] {
            case let byte where (0x30...0x39).contains(byte): digit = byte - 0x30
            case let byte where (0x41...0x46).contains(byte): digit = byte - 0x41 + 10
            case let byte where (0x61...0x66).contains(byte): digit = byte - 0x61 + 10
            default: throw error(.invalidString)
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
