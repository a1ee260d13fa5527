/// Parses JSON text (RFC 8259) strictly. The parser accepts only UTF-8 without a byte order mark. It refuses deep nesting and, by default,
/// duplicate keys.
///
/// If a key occurs twice, Foundation's decoder silently uses one of the values. Another parser may use the other value, and therefore read
/// another email address from the same request. For this reason, this parser refuses duplicate keys by default. The parser never traps.
///
/// ```swift
/// let value = try JSONParser().parse(#"{"id":1}"#.utf8)
/// print(value.objectValue?["id"]?.doubleValue ?? 0)
/// ```
///
/// Use the defaults for requests of clients. To read responses of other systems, set ``duplicates`` and ``overflow`` to accept as much as
/// possible. The parser doesn't limit the size of a text, so limit the size when you read the text.
///
/// The parser uses a bounded part of the stack, because ``maximumDepth`` limits the recursion. The time is O(n) for n bytes, even for
/// objects with many keys: from 32 members on, the parser finds duplicate keys by hashing. A parser is a value with three settings, so
/// create one wherever you need it.
public struct JSONParser: Sendable {
    /// The treatment of an object in which a key occurs twice.
    public enum Duplicates: Sendable {
        /// The parser refuses the text with ``JSONSyntaxError/Reason/duplicateKey``.
        case refused
        /// The parser uses the last value, at the position of the first value. Most other parsers also use the last value.
        case lastWins
    }

    /// The treatment of a number that exceeds the range of a `Double`, such as `1e400`.
    public enum Overflow: Sendable {
        /// The parser refuses the text with ``JSONSyntaxError/Reason/invalidNumber``.
        case refused
        /// The number becomes ``JSONValue/null``, so that the rest of the text can be used.
        case null
    }

    /// The maximum nesting of arrays and objects, 64 by default. A value that is not an array or object has the depth 0.
    public var maximumDepth: Int
    /// The treatment of duplicate keys.
    public var duplicates: Duplicates

    /// The treatment of numbers that are too large.
    public var overflow: Overflow

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - maximumDepth: The maximum nesting of arrays and objects. Parsing is recursive, so deep nesting can exhaust the stack of the
    ///     thread if this limit is very large.
    ///   - duplicates: The treatment of duplicate keys.
    ///   - overflow: The treatment of numbers that are too large.
    /// - Precondition: `maximumDepth` is positive.
    public init(maximumDepth: Int = 64, duplicates: Duplicates = .refused, overflow: Overflow = .refused) {
        precondition(maximumDepth > 0, "maximumDepth must be positive (is \(maximumDepth))")
        self.maximumDepth = maximumDepth
        self.duplicates = duplicates
        self.overflow = overflow
    }

    /// Parses a text that consists of one value, which may be surrounded by white space.
    ///
    /// - Parameter bytes: The text in UTF-8. The parser first copies bytes that are not contiguous in memory.
    /// - Returns: The value. Whole numbers that fit into 64 bits are exact.
    /// - Throws: ``JSONSyntaxError`` at the first error.
    /// - Complexity: O(n) for n bytes.
    public func parse(_ bytes: some Collection<UInt8>) throws(JSONSyntaxError) -> JSONValue {
        let result = bytes.withContiguousStorageIfAvailable(read) ?? Array(bytes).withUnsafeBufferPointer(read)
        return try result.get()
    }

    /// Parses only those members of an object that have one of the given names. The method skips the contents of arrays and objects.
    ///
    /// Use this method if a few members determine how to process a text. The method doesn't validate the other members, and ignores the
    /// text after the object. If a key occurs twice, the method uses the last value, regardless of ``duplicates``.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - names: The names of the members.
    /// - Throws: ``JSONSyntaxError`` if the text is not an object or a parsed part is invalid.
    /// - Complexity: O(n) for n bytes, with a small constant for skipped members.
    package func outline(of bytes: UnsafeBufferPointer<UInt8>, names: JSONNames) throws(JSONSyntaxError) -> JSONObject {
        var reader = JSONReader(bytes: bytes, options: self)
        return try reader.outline(names)
    }

    /// Parses a text in place. The method returns a `Result`, because `withContiguousStorageIfAvailable` doesn't support typed errors.
    private func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, JSONSyntaxError> {
        var reader = JSONReader(bytes: bytes, options: self)
        return Result { () throws(JSONSyntaxError) in try reader.document() }
    }
}

/// The error that the parser throws if a text is not JSON, or if the text exceeds the parser's limits. The error contains no part of the
/// text, so it is safe to log.
///
/// ```swift
/// do {
///     _ = try JSONParser().parse(#"{"id":1,"id":2}"#.utf8)
/// } catch {
///     print(error.reason)  // duplicateKey
/// }
/// ```
public struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
    /// The reason for the error.
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

    /// The reason for the error.
    public let reason: Reason
    /// The position at which the parser stopped, in bytes from the start. If a string or a number is invalid, this position can be after
    /// the first byte of the string or number.
    public let offset: Int

    /// The reason and the position, for a log.
    public var description: String { "\(reason.rawValue) at byte \(offset)" }
}
