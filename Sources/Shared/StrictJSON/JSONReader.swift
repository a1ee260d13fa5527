/// The recursive descent parser of ``JSONParser`` for one text. It reads the caller's memory in place, so it must not outlive this memory.
///
/// Each function begins at the first byte of its element and sets ``position`` to the byte after the element. After an error, ``position``
/// is the place of the error, and the reader must not be used again.
struct JSONReader {
    /// The text.
    let bytes: UnsafeBufferPointer<UInt8>
    private let options: JSONParser
    /// The index of the next byte.
    var position = 0

    /// Creates a reader at the start of a text.
    init(bytes: UnsafeBufferPointer<UInt8>, options: JSONParser) {
        self.bytes = bytes
        self.options = options
    }

    /// Whether all bytes were read.
    var isAtEnd: Bool { position >= bytes.count }

    /// Returns an error at the current position. At the end of the text, the method replaces the reason `unexpectedCharacter` by
    /// `unexpectedEnd`.
    func error(_ reason: JSONSyntaxError.Reason) -> JSONSyntaxError {
        JSONSyntaxError(reason: isAtEnd && reason == .unexpectedCharacter ? .unexpectedEnd : reason, offset: position)
    }

    /// Skips the four characters that JSON allows between elements (RFC 8259 §2): space, tab, line feed and carriage return.
    mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    /// Parses a text that consists of one value.
    mutating func document() throws(JSONSyntaxError) -> JSONValue {
        let value = try value(depth: 0)
        skipSpace()
        guard isAtEnd else { throw error(.unexpectedCharacter) }
        return value
    }

    /// Parses a value after optional white space.
    /// - Parameter depth: The number of arrays and objects around the value.
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

    /// The initial capacity of an object.
    private static let usualCount = 4
    /// The initial capacity of the outermost object, which may have many members.
    private static let usualCountOutside = 16

    /// Parses an object from its opening brace on.
    /// - Parameter depth: The nesting of this object, from 1.
    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONObject {
        guard depth <= options.maximumDepth else { throw error(.tooDeep) }
        position += 1
        skipSpace()
        if take(UInt8(ascii: "}")) { return [:] }
        var members = JSONMembers(room: depth == 1 ? Self.usualCountOutside : Self.usualCount)
        while true {
            skipSpace()
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw error(.unexpectedCharacter) }
            let key = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error(.unexpectedCharacter) }
            let value = try value(depth: depth)
            if let earlier = members.append(key, value) {
                guard options.duplicates == .lastWins else { throw error(.duplicateKey) }
                members.replace(at: earlier, with: value)
            }
            skipSpace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "}")) else { throw error(.unexpectedCharacter) }
            return JSONObject(distinct: members.list)
        }
    }

    /// Parses an array from its opening bracket on.
    /// - Parameter depth: The nesting of this array, from 1.
    private mutating func array(depth: Int) throws(JSONSyntaxError) -> [JSONValue] {
        guard depth <= options.maximumDepth else { throw error(.tooDeep) }
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return elements }
        elements.reserveCapacity(Self.usualCount)
        while true {
            elements.append(try value(depth: depth))
            skipSpace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "]")) else { throw error(.unexpectedCharacter) }
            return elements
        }
    }

    /// Consumes the next byte if it equals the given byte. Returns whether the byte was consumed.
    mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// Consumes the text of `true`, `false` or `null`.
    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        for index in 0..<text.utf8CodeUnitCount {
            guard take(text.utf8Start[index]) else { throw error(.unexpectedCharacter) }
        }
        return value
    }

    /// Parses a number (RFC 8259 §6): no plus sign, no leading zeros, at least one digit on each side of the point.
    ///
    /// The reader computes a whole number of up to 18 digits while it reads the digits. It converts all other numbers from their text, so
    /// that a `Double` is correctly rounded. A whole number that doesn't fit into 64 bits becomes a `Double`.
    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = position
        let isNegative = take(UInt8(ascii: "-"))
        let leadingZero = position < bytes.count && bytes[position] == UInt8(ascii: "0")
        let (integerDigits, magnitude) = digits()
        guard integerDigits > 0 else { throw error(.unexpectedCharacter) }
        guard !leadingZero || integerDigits == 1 else { throw error(.invalidNumber) }
        var isInteger = true
        if take(UInt8(ascii: ".")) {
            isInteger = false
            guard digits().count > 0 else { throw error(.invalidNumber) }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits().count > 0 else { throw error(.invalidNumber) }
        }
        if isInteger, integerDigits <= Self.surelyFitting { return .integer(isNegative ? -magnitude : magnitude) }
        let text = text(start..<position)
        if isInteger, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text) else { throw error(.invalidNumber) }
        if value.isFinite { return .number(value) }
        guard options.overflow == .null else { throw error(.invalidNumber) }
        return .null
    }

    /// The number of digits that always fit into 64 bits.
    private static let surelyFitting = 18

    /// Skips digits, and returns their number and their value. The value is valid only for up to ``surelyFitting`` digits.
    private mutating func digits() -> (count: Int, value: Int64) {
        let start = position
        var value: Int64 = 0
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
            value = value &* 10 &+ Int64(bytes[position] &- 0x30)
            position += 1
        }
        return (position - start, value)
    }

    /// Parses a string from its opening quote on. The reader copies the text once, and validates it as UTF-8 only if it contains a byte
    /// that is not ASCII.
    mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        let start = position
        var all: UInt8 = 0
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                let range = start..<position
                position += 1
                if all < 0x80 { return text(range) }
                guard let text = String(validating: bytes[range], as: UTF8.self) else { throw error(.invalidString) }
                return text
            case UInt8(ascii: "\\"): return try escapedString(from: start)
            case 0x00..<0x20: throw error(.invalidString)
            default:
                all |= byte
                position += 1
            }
        }
        throw error(.unexpectedEnd)
    }

    /// Returns a part of the text that is known to be ASCII.
    private func text(_ range: Range<Int>) -> String {
        String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
    }

    /// Parses the rest of a string from the first backslash on. This is the slow path.
    private mutating func escapedString(from start: Int) throws(JSONSyntaxError) -> String {
        var buffer = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: buffer, as: UTF8.self) else { throw error(.invalidString) }
                return text
            case UInt8(ascii: "\\"): try appendEscape(to: &buffer)
            case 0x00..<0x20: throw error(.invalidString)
            default: buffer.append(byte)
            }
        }
        throw error(.unexpectedEnd)
    }

    /// Appends the character of an escape, from the byte after the backslash on.
    private mutating func appendEscape(to buffer: inout [UInt8]) throws(JSONSyntaxError) {
        guard position < bytes.count else { throw error(.unexpectedEnd) }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): buffer.append(byte)
        case UInt8(ascii: "b"): buffer.append(0x08)
        case UInt8(ascii: "f"): buffer.append(0x0C)
        case UInt8(ascii: "n"): buffer.append(0x0A)
        case UInt8(ascii: "r"): buffer.append(0x0D)
        case UInt8(ascii: "t"): buffer.append(0x09)
        case UInt8(ascii: "u"): buffer.append(contentsOf: UTF8.encode(try unicodeEscape()) ?? UTF8.encodedReplacementCharacter)
        default: throw error(.invalidString)
        }
    }

    /// Parses the digits of `\u`. After the first half of a surrogate pair, the reader also parses the escape of the second half. It
    /// refuses a single half, because UTF-8 can't represent it.
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

    /// Parses exactly four hexadecimal digits, with uppercase or lowercase letters.
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

/// The members of an object during parsing or creation, with a fast check for duplicate keys.
///
/// The check has three stages:
///
/// - Below 8 members, it compares all keys.
/// - From 8 members on, a Bloom filter of 64 bits recognizes most new keys.
/// - From 32 members on, a dictionary finds the keys that the Bloom filter doesn't recognize as new.
///
/// So an attacker can't cause quadratic time with many keys.
struct JSONMembers {
    /// The members in order.
    private(set) var list: [(key: String, value: JSONValue)] = []
    /// The indices by key; empty below 32 members.
    private var positions: [ExactKey: Int] = [:]
    /// The fingerprints (one bit of 64 each) of all keys, from 8 members on.
    private var fingerprints: UInt64 = 0

    /// Below this number of members, it is fastest to compare all keys.
    private static let few = 8
    /// From this number of members on, a dictionary is faster than comparing all keys.
    private static let many = 32

    /// - Parameter room: The initial capacity.
    init(room: Int) {
        list.reserveCapacity(room)
    }

    /// Adds a member with a new key and returns `nil`, or returns the index of the member that already has the key.
    mutating func append(_ key: String, _ value: JSONValue) -> Int? {
        if let earlier = position(of: key) { return earlier }
        if list.count >= Self.many {
            if positions.isEmpty { for (index, member) in list.enumerated() { positions[ExactKey(member.key)] = index } }
            positions[ExactKey(key)] = list.count
        }
        list.append((key, value))
        return nil
    }

    /// Replaces the value of a member.
    mutating func replace(at index: Int, with value: JSONValue) {
        list[index].value = value
    }

    /// Returns the index of a key, and adds its fingerprint.
    private mutating func position(of key: String) -> Int? {
        guard list.count >= Self.few else { return list.firstIndex(of: key) }
        if list.count == Self.few { fingerprints = list.reduce(0) { $0 | Self.fingerprint(of: $1.key) } }
        let fingerprint = Self.fingerprint(of: key)
        defer { fingerprints |= fingerprint }
        // If the bit of the key isn't set, the key is new.
        guard fingerprints & fingerprint != 0 else { return nil }
        return positions.isEmpty ? list.firstIndex(of: key) : positions[ExactKey(key)]
    }

    /// Returns one bit of 64, derived from the length, the first and the last byte of a key.
    private static func fingerprint(of key: String) -> UInt64 {
        let ends = UInt64(key.utf8.first ?? 0) &* 7 &+ UInt64(key.utf8.last ?? 0)
        return 1 << ((ends &+ UInt64(key.utf8.count) &* 11) & 63)
    }
}

/// A key of a dictionary that equals another key only if their UTF-8 bytes are equal.
private struct ExactKey: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) {
        var copy = text
        copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension [(key: String, value: JSONValue)] {
    /// Returns the index of a member.
    func firstIndex(of key: String) -> Int? {
        indices.first { self[$0].key.hasSameBytes(as: key) }
    }
}

extension String {
    /// Returns whether the UTF-8 bytes of two keys are equal. Two Swift strings can be equal although their bytes differ, such as U+212B
    /// and `A` with U+030A.
    ///
    /// The method first compares the lengths, because most keys have another length. The comparison of the strings is faster than the
    /// comparison of the bytes.
    fileprivate func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && self == other && utf8.elementsEqual(other.utf8)
    }
}
