/// Parses JSON text (RFC 8259) strictly. It accepts only UTF-8 without a byte order mark. It refuses duplicate keys and deep nesting.
///
/// If a key occurs twice, Foundation's decoder silently uses one of the values. Another parser may use the other value, and so read another
/// email address from the same request. This parser refuses duplicate keys by default. It never traps.
///
/// ```swift
/// let value = try JSONParser().parse(#"{"id":1}"#.utf8)
/// print(value.objectValue?["id"]?.doubleValue ?? 0)
/// ```
///
/// Use the defaults for requests of clients. To read responses of other systems, set ``duplicates`` and ``overflow`` to accept as much as
/// possible. The parser doesn't limit the size of a text, so limit the size when you read the text.
///
/// The use of the stack is bounded, because ``maximumDepth`` limits the recursion. The time is O(n) for n bytes, also for a text with many
/// keys: in objects with 32 or more members, the parser finds duplicate keys by hashing. A parser is a value with three settings, so create
/// a parser where you need it.
public struct JSONParser: Sendable {
    /// The treatment of an object in which a key occurs twice.
    public enum Duplicates: Sendable {
        /// The text is refused with ``JSONSyntaxError/Reason/duplicateKey``.
        case refused
        /// The last value is used, as in most other parsers. It has the position of the first value.
        case lastWins
    }

    /// The treatment of a number that exceeds the range of a `Double`, such as `1e400`.
    public enum Overflow: Sendable {
        /// The text is refused with ``JSONSyntaxError/Reason/invalidNumber``.
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
    /// - Parameter bytes: The text in UTF-8. Bytes that are not contiguous in memory are copied first.
    /// - Returns: The value. Whole numbers that fit into 64 bits are exact.
    /// - Throws: ``JSONSyntaxError`` at the first error.
    /// - Complexity: O(n) for n bytes.
    public func parse(_ bytes: some Collection<UInt8>) throws(JSONSyntaxError) -> JSONValue {
        let result = bytes.withContiguousStorageIfAvailable(read) ?? Array(bytes).withUnsafeBufferPointer(read)
        return try result.get()
    }

    /// Parses only the members of an object with the given names, without the contents of their arrays and objects.
    ///
    /// Use it if a few members of a text determine how to process it. Members with other names are not validated. The text after the object
    /// is ignored. If a key occurs twice, the last value is used, regardless of ``duplicates``.
    ///
    /// - Parameters:
    ///   - bytes: The text in UTF-8.
    ///   - names: The names of the members.
    /// - Throws: ``JSONSyntaxError`` if the text is not an object or a parsed part is invalid.
    /// - Complexity: O(n) for n bytes, with a small constant for skipped members.
    package func outline(of bytes: UnsafeBufferPointer<UInt8>, names: Set<String>) throws(JSONSyntaxError) -> JSONObject {
        var reader = JSONReader(bytes: bytes, options: self)
        return try reader.outline(names)
    }

    /// Parses a text in place. It returns a `Result`, because `withContiguousStorageIfAvailable` doesn't support typed errors.
    private func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, JSONSyntaxError> {
        var reader = JSONReader(bytes: bytes, options: self)
        return Result { () throws(JSONSyntaxError) in try reader.document() }
    }
}

/// An error that is thrown if a text is not JSON, or if it exceeds the limits of the parser. The error contains no part of the text, so it
/// can be logged.
///
/// ```swift
/// do {
///     _ = try JSONParser().parse(#"{"id":1,"id":2}"#.utf8)
/// } catch {
///     print(error.reason)  // duplicateKey
/// }
/// ```
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
    /// The position at which the parser stopped, in bytes from the start. If a string or a number is invalid, the position may be after its
    /// first byte.
    public let offset: Int

    /// The reason and the position, for a log.
    public var description: String { "\(reason.rawValue) at byte \(offset)" }
}
