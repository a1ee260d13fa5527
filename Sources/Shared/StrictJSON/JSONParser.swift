/// Parses JSON text (RFC 8259) strictly: UTF-8 only, no byte order mark, no duplicate keys, bounded depth.
///
/// Foundation's decoder silently uses one of two equal keys, so that two readers of one request can disagree about the email
/// address in it. This parser refuses duplicate keys by default. It never traps, whatever the bytes are. O(n) for texts whose
/// objects are small.
public struct JSONParser: Sendable {
    /// The treatment of an object in which a key occurs twice.
    public enum Duplicates: Sendable {
        /// The text is refused.
        case refused
        /// The last value is used.
        case lastWins
    }

    /// The treatment of a number that exceeds the range of a `Double`, such as `1e400`.
    public enum Overflow: Sendable {
        /// The text is refused.
        case refused
        /// The number becomes null, so that the rest of the text can be used.
        case null
    }

    /// The maximum nesting of arrays and objects.
    public var maximumDepth: Int
    /// The treatment of duplicate keys.
    public var duplicates: Duplicates

    /// The treatment of numbers that are too large.
    public var overflow: Overflow

    /// Creates a parser.
    ///
    /// - Precondition: `maximumDepth` is positive.
    public init(maximumDepth: Int = 64, duplicates: Duplicates = .refused, overflow: Overflow = .refused) {
        precondition(maximumDepth > 0, "maximumDepth must be positive (is \(maximumDepth))")
        self.maximumDepth = maximumDepth
        self.duplicates = duplicates
        self.overflow = overflow
    }

    /// Parses a text that consists of one value.
    ///
    /// - Throws: ``JSONSyntaxError``.
    public func parse(_ bytes: some Collection<UInt8>) throws(JSONSyntaxError) -> JSONValue {
        let result = bytes.withContiguousStorageIfAvailable(read) ?? Array(bytes).withUnsafeBufferPointer(read)
        return try result.get()
    }

    /// Parses only the members of an object with the given names, without the contents of their arrays and objects.
    ///
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

/// An error that reports why a text is not JSON, or exceeds the limits of the parser.
public struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
    /// The reason of the error.
    public enum Reason: String, Hashable, Sendable {
        /// The text ends too early.
        case unexpectedEnd = "unexpected end"
        /// A character is not allowed at its position.
        case unexpectedCharacter = "unexpected character"
        /// A string contains an invalid escape, half a surrogate pair, a control character, or bytes that are not UTF-8.
        case invalidString = "invalid string"
        /// A number has a format that JSON doesn't allow, or is not finite.
        case invalidNumber = "invalid number"
        /// The nesting exceeds the maximum.
        case tooDeep = "nested too deeply"
        /// A key occurs twice in an object.
        case duplicateKey = "duplicate key"
    }

    /// The reason of the error.
    public let reason: Reason
    /// The position of the error, in bytes from the start.
    public let offset: Int

    /// The reason and the position, for a log.
    public var description: String { "\(reason.rawValue) at byte \(offset)" }
}
