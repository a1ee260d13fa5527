public import ErrorContract
public import HTTPTypes

/// A response whose body is read as it arrives. The transport determines the size of the chunks.
///
/// ```swift
/// let stream = try await api.stream(.get, "/exports/7")
/// for try await chunk in stream { try file.write(contentsOf: chunk) }
/// ```
///
/// Only one reader can read the stream, and only once. If the stream is released before its end, or if its reader is canceled, the
/// connection closes. A slow reader slows the server down, so the memory use is limited. To read single bytes or lines instead of chunks,
/// use ``bytes`` or ``lines``. To store a file, use
/// ``APIClient/download(_:query:to:headers:options:idleTimeout:context:progress:)``.
public struct ResponseStream: AsyncSequence, Sendable {
    /// The type of the elements: a chunk of the body.
    public typealias Element = [UInt8]
    /// The error of a body that ends early, of the kind `network`, `timeout` or `cancelled`.
    public typealias Failure = APIError

    /// The head of the response.
    public let response: HTTPResponse
    private let body: ResponseBody
    private let context: CallContext
    private let api: APIClient

    init(response: HTTPResponse, body: ResponseBody, context: CallContext, api: APIClient) {
        (self.response, self.body, self.context, self.api) = (response, body, context, api)
    }

    /// The identifier of the session that authorized the request; `nil` for none.
    var session: String? { context.session }

    /// The number of bytes of the body; `nil` if the server didn't send this number, or if the body is compressed.
    public var length: Int64? {
        response.headerFields[.contentEncoding].map { $0 == "identity" } ?? true
            ? response.headerFields[.contentLength].flatMap { Int64($0) } : nil
    }

    /// The body as single bytes. Single bytes are easier to parse than chunks, but slower to read. Read either these bytes or the chunks of
    /// the stream, because the body can be read only once.
    public var bytes: Bytes { Bytes(stream: self) }

    /// The body as lines of text, as they arrive. Read either these lines or the chunks of the stream, because the body can be read only
    /// once.
    public var lines: Lines { Lines(stream: self) }

    /// Reads the whole body.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The bytes.
    /// - Throws: `APIError`. Its kind is `decoding` if the body is larger than the limit. If the body ends early, the kind is `network`,
    ///   `timeout` or `cancelled`.
    public func collect(upTo limit: Int) async throws(APIError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunks = makeAsyncIterator()
        while let chunk = try await chunks.next() {
            guard bytes.count + chunk.count <= limit else { throw failure(APIError(.decoding)) }
            bytes += chunk
        }
        return bytes
    }

    /// Creates an iterator that reads the chunks.
    public func makeAsyncIterator() -> Iterator { Iterator(chunks: body.makeAsyncIterator(), stream: self) }

    /// Returns the chunks of one body.
    public struct Iterator: AsyncIteratorProtocol {
        var chunks: ResponseBody.Iterator
        let stream: ResponseStream

        /// Returns the next chunk, or `nil` at the end.
        /// - Throws: `APIError` if the body ends early or the task is canceled.
        public mutating func next() async throws(APIError) -> [UInt8]? {
            do {
                guard let chunk = try await chunks.next() else {
                    // If the reader is canceled, a stream can end without an error. The body would then appear to be complete.
                    try Task.checkCancellation()
                    return nil
                }
                return chunk
            } catch {
                throw stream.failure(error)
            }
        }
    }

    /// Converts an error of the body. The server has already responded, so the error never has the kind `unknownOutcome`.
    func failure(_ error: any Error) -> APIError {
        var failure = APIError(error, isSafeToRepeat: true, context: context.name)
        failure.attempts = context.record.attempts
        if failure.requestID == nil { failure.requestID = response.headerFields[.requestID] }
        return api.localized(failure)
    }
}

extension APIClient {
    /// Returns the error with the language, the catalog and the server text language of the client.
    /// - Parameter error: An error that did not come from a call of the client.
    package func localized(_ error: APIError) -> APIError {
        var error = error
        (error.language, error.catalogue, error.serverTextLanguage) = (language, catalogue, serverTextLanguage)
        return error
    }
}

extension ResponseStream {
    /// The body of a response as single bytes. Most bytes come from a chunk in memory, so reading a byte rarely suspends.
    public struct Bytes: AsyncSequence, Sendable {
        /// The type of the elements: a byte.
        public typealias Element = UInt8
        /// The error of a body that ends early.
        public typealias Failure = APIError

        let stream: ResponseStream

        /// Creates an iterator that reads the bytes.
        public func makeAsyncIterator() -> Iterator { Iterator(chunks: stream.makeAsyncIterator()) }

        /// Returns the bytes of one body.
        public struct Iterator: AsyncIteratorProtocol {
            var chunks: ResponseStream.Iterator
            var chunk: [UInt8] = []
            var position = 0

            /// Returns the next byte, or `nil` at the end.
            /// - Throws: `APIError` if the body ends early or the task is canceled.
            public mutating func next() async throws(APIError) -> UInt8? {
                while position == chunk.count {
                    guard let next = try await chunks.next() else { return nil }
                    (chunk, position) = (next, 0)
                }
                defer { position += 1 }
                return chunk[position]
            }
        }
    }

    /// The body of a response as lines of UTF-8 text, without their line ends.
    ///
    /// A line ends with LF, CR, CRLF, VT, FF, or one of the Unicode separators U+0085, U+2028 and U+2029, as in
    /// `URLSession.AsyncBytes.lines`. Unlike `URLSession`, this type returns an empty line as an empty string. The type replaces invalid
    /// UTF-8 with U+FFFD. If a line exceeds 16 MiB, the sequence throws an error of the kind `decoding`.
    public struct Lines: AsyncSequence, Sendable {
        /// The type of the elements: a line.
        public typealias Element = String
        /// The error of a body that ends early.
        public typealias Failure = APIError

        let stream: ResponseStream

        /// The head of the response.
        public var response: HTTPResponse { stream.response }

        /// Creates an iterator that reads the lines.
        public func makeAsyncIterator() -> Iterator { Iterator(chunks: stream.makeAsyncIterator(), stream: stream) }

        /// Returns the lines of one body.
        public struct Iterator: AsyncIteratorProtocol {
            var chunks: ResponseStream.Iterator
            let stream: ResponseStream
            var splitter = LineSplitter(separators: .unicode)
            var hasEnded = false

            /// Returns the next line, or `nil` at the end.
            /// - Throws: `APIError` if the body ends early or the task is canceled. The kind is `decoding` if a line exceeds 16 MiB.
            public mutating func next() async throws(APIError) -> String? {
                while true {
                    if let line = splitter.next() { return String(decoding: line, as: UTF8.self) }
                    guard !hasEnded else { return nil }
                    guard !splitter.isTooLong else { throw stream.failure(APIError(.decoding)) }
                    if let chunk = try await chunks.next() {
                        splitter.append(chunk)
                    } else {
                        hasEnded = true
                        splitter.finish()
                    }
                }
            }
        }
    }
}

/// Splits a stream of bytes into lines. The type is a value. O(1) per byte.
///
/// `buffer` contains the bytes that the splitter has not returned yet, from the index `start` on. The splitter has already searched the
/// bytes before `position`, so it doesn't search a long line again with each chunk. A CR ends a line at once. If the next byte is an LF, it
/// belongs to the same line end.
struct LineSplitter {
    /// The bytes that end a line.
    enum Separators {
        /// LF, CR and CRLF.
        case ascii
        /// Also VT, FF, U+0085, U+2028 and U+2029.
        case unicode
    }

    /// The maximum length of a line, in bytes.
    static let longestLine = 16 * 1024 * 1024

    let separators: Separators
    private var buffer: [UInt8] = []
    /// The index at which the current line begins.
    private var start = 0
    /// The index of the first byte that the splitter has not searched yet.
    private var position = 0
    /// Whether the last line ended with CR. A following LF then belongs to the same line end.
    private var skipsLineFeed = false
    private var hasEnded = false

    init(separators: Separators) {
        self.separators = separators
    }

    /// Whether the current line exceeds the maximum length.
    var isTooLong: Bool { position - start > Self.longestLine }

    /// Adds bytes, and removes the bytes of returned lines.
    mutating func append(_ chunk: [UInt8]) {
        if start == buffer.count {
            (position, start, buffer) = (0, 0, chunk)
        } else {
            if start > 0 {
                buffer.removeFirst(start)
                (position, start) = (position - start, 0)
            }
            buffer += chunk
        }
    }

    /// Ends the stream. The remaining bytes are the last line.
    mutating func finish() { hasEnded = true }

    /// Returns the next complete line.
    mutating func next() -> ArraySlice<UInt8>? {
        while position < buffer.count {
            if skipsLineFeed {
                skipsLineFeed = false
                if buffer[position] == 0x0A {
                    (position, start) = (position + 1, position + 1)
                    continue
                }
            }
            let (length, isIncomplete) = separator(at: position)
            if isIncomplete { break }
            guard length > 0 else {
                position += 1
                continue
            }
            let line = buffer[start..<position]
            skipsLineFeed = buffer[position] == 0x0D
            (position, start) = (position + length, position + length)
            return line
        }
        guard hasEnded, start < buffer.count else { return nil }
        let line = buffer[start...]
        (position, start) = (buffer.count, buffer.count)
        return line
    }

    /// Returns the length of the line end at an index; 0 if there is none. The second value is `true` if only the next chunk can show
    /// whether there is a line end.
    private func separator(at index: Int) -> (length: Int, isIncomplete: Bool) {
        switch (buffer[index], separators) {
        case (0x0A, _), (0x0D, _), (0x0B, .unicode), (0x0C, .unicode): return (1, false)
        case (0xC2, .unicode):
            guard index + 1 < buffer.count else { return (0, !hasEnded) }
            return (buffer[index + 1] == 0x85 ? 2 : 0, false)
        case (0xE2, .unicode):
            guard index + 1 < buffer.count else { return (0, !hasEnded) }
            guard buffer[index + 1] == 0x80 else { return (0, false) }
            guard index + 2 < buffer.count else { return (0, !hasEnded) }
            return (buffer[index + 2] == 0xA8 || buffer[index + 2] == 0xA9 ? 3 : 0, false)
        default: return (0, false)
        }
    }
}
