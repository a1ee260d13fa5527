/// Reads JSON text (RFC 8259) strictly: UTF-8 only, no byte order mark, no duplicate keys, bounded depth.
///
/// Foundation's decoder keeps one of two equal keys without a word, which lets two readers of one request disagree about
/// whose e-mail address it carries. This reader refuses them, and never traps whatever the bytes are. O(n) for texts
/// whose objects are small.
public struct JSONParser: Sendable {
    /// What becomes of an object in which a key occurs twice.
    public enum Duplicates: Sendable {
        /// The text is refused.
        case refused
        /// The last one counts.
        case lastWins
    }

    /// What becomes of a number beyond what a `Double` holds, such as `1e400`.
    public enum Overflow: Sendable {
        /// The text is refused.
        case refused
        /// It is read as null, so that the rest of the text is not lost.
        case null
    }

    /// The deepest nesting of arrays and objects that is read.
    public var maximumDepth: Int
    /// What becomes of equal keys.
    public var duplicates: Duplicates

    /// What becomes of numbers that are too large.
    public var overflow: Overflow

    /// Creates a parser.
    public init(maximumDepth: Int = 64, duplicates: Duplicates = .refused, overflow: Overflow = .refused) {
        precondition(maximumDepth > 0, "maximumDepth must be positive (is \(maximumDepth))")
        self.maximumDepth = maximumDepth
        self.duplicates = duplicates
        self.overflow = overflow
    }

    /// Reads one value that fills the whole text.
    /// - Throws: ``JSONSyntaxError``.
    public func parse(_ bytes: some Collection<UInt8>) throws(JSONSyntaxError) -> JSONValue {
        let result = bytes.withContiguousStorageIfAvailable(read) ?? Array(bytes).withUnsafeBufferPointer(read)
        return try result.get()
    }

    /// Reads of an object only the members of some names, and nothing of the arrays and objects in them.
    /// - Throws: ``JSONSyntaxError``.
    package func outline(of bytes: UnsafeBufferPointer<UInt8>, names: Set<String>) throws(JSONSyntaxError) -> JSONObject {
        var reader = JSONReader(bytes: bytes, options: self)
        return try reader.outline(names)
    }

    private func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, JSONSyntaxError> {
        var reader = JSONReader(bytes: bytes, options: self)
        return Result { () throws(JSONSyntaxError) in try reader.document() }
    }
}

/// Why a text is not JSON, or not JSON that is accepted.
public struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
    /// The kind of fault.
    public enum Reason: String, Hashable, Sendable {
        /// The text breaks off.
        case unexpectedEnd = "unexpected end"
        /// A character that cannot stand where it stands.
        case unexpectedCharacter = "unexpected character"
        /// A bad escape, half a surrogate pair, a raw control character, or bytes that are not UTF-8.
        case invalidString = "invalid string"
        /// A form of number that JSON does not have, or one that is not finite.
        case invalidNumber = "invalid number"
        /// More nesting than is read.
        case tooDeep = "nested too deeply"
        /// A key that occurs twice in an object.
        case duplicateKey = "duplicate key"
    }

    /// The kind of fault.
    public let reason: Reason
    /// Where it was found, in bytes from the start.
    public let offset: Int

    /// The fault and its place, for a log.
    public var description: String { "\(reason.rawValue) at byte \(offset)" }
}
