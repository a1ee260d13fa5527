/// Parses JSON text (RFC 8259) strictly: UTF-8 only, no byte order mark, no duplicate keys, bounded depth.
///
/// Foundation's decoder silently uses one of two equal keys, so that two readers of one request can disagree about the email address in it.
/// This parser refuses duplicate keys by default. It never traps.
///
/// ```swift
/// let value = try JSONParser().parse(#"{"id":1}"#.utf8)
/// print(value.objectValue?["id"]?.doubleValue ?? 0)
/// ```
///
/// Use the defaults for requests of clients. To read responses of other systems, set ``duplicates`` and ``overflow`` to accept as much as
/// possible. The size of a text is not limited: limit it when you read the text.
///
/// Stack and time are bounded: ``maximumDepth`` limits the recursion, and duplicate keys are found by hashing from 32 members on, so that a
/// text with many keys takes O(n) and not O(n²). A parser is a value with three settings; create one where you need it.
public struct JSONParser: Sendable {
    /// The treatment of an object in which a key occurs twice.
    public enum Duplicates: Sendable {
        /// The text is refused with ``JSONSyntaxError/Reason/duplicateKey``.
        case refused
        /// The last value is used, as in most other parsers, at the position of the first one.
        case lastWins
    }

    /// The treatment of a number that exceeds the range of a `Double`, such as `1e400`.
    public enum Overflow: Sendable {
        /// The text is refused with ``JSONSyntaxError/Reason/invalidNumber``.
        case refused
        /// The number becomes ``JSONValue/null``, so that the rest of the text can be used.
        case null
    }

    /// The maximum nesting of arrays and objects, 64 by default. A value that is no array or object has the depth 0.
    public var maximumDepth: Int
    /// The treatment of duplicate keys.
    public var duplicates: Duplicates

    /// The treatment of numbers that are too large.
    public var overflow: Overflow

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - maximumDepth: The maximum nesting of arrays and objects. Parsing is recursive, so a very large value can exhaust the stack of
    ///     the thread.
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
    /// It is for texts of which a few members decide how to continue. Members with other names are not validated, the text after the object
    /// is ignored, and of equal keys the last one is used, regardless of ``duplicates``.
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

    /// Parses a text in place. Returns a result because `withContiguousStorageIfAvailable` doesn't support typed errors.
    private func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, JSONSyntaxError> {
        var reader = JSONReader(bytes: bytes, options: self)
        return Result { () throws(JSONSyntaxError) in try reader.document() }
    }
}

/// An error that reports why a text is not JSON, or exceeds the limits of the parser. It contains no part of the text, so it can be logged.
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
    /// The position at which the parser stopped, in bytes from the start. For a string or a number, it may be behind its first byte.
    public let offset: Int

    /// The reason and the position, for a log.
    public var description: String { "\(reason.rawValue) at byte \(offset)" }
}
