/// The body of a response, in chunks as they arrive.
public struct ResponseBody: AsyncSequence, Sendable {
    /// The type of the elements: a chunk.
    public typealias Element = [UInt8]

    private enum Source: Sendable {
        case whole([UInt8])
        case stream(AsyncThrowingStream<[UInt8], any Error>)
        case pull(@Sendable () async throws -> [UInt8]?)
    }

    private let source: Source
    /// Whether a redirect led to another origin than that of the request. A transport that follows redirects sets this property, even if a
    /// later redirect led back to the first origin. The transport sends no credentials to another origin, so a refusal of such a response
    /// never changes the user's session.
    public var isFromOtherOrigin = false

    /// Creates a body from a stream.
    ///
    /// To report a failure, the stream throws a ``TransportError``. The client converts this error to an `APIError` of the matching kind,
    /// such as `timeout`. Most other errors get the kind `custom`, so the caller can't see that the transport failed.
    /// - Parameter chunks: The chunks in their order. By default, an `AsyncThrowingStream` buffers all chunks that its producer yields. For
    ///   large bodies, use ``init(next:)``, which requests each chunk when the reader needs it.
    public init(_ chunks: AsyncThrowingStream<[UInt8], any Error>) {
        source = .stream(chunks)
    }

    /// Creates a body from a function that returns the next chunk, or `nil` at the end.
    ///
    /// A function needs less time and memory than a stream. Only one reader at a time calls the function. To report a failure, the function
    /// throws a ``TransportError``. Most other errors get the kind `custom`, so the caller can't see that the transport failed.
    /// - Parameter next: Returns the next chunk, or `nil` at the end. The function runs in the task of the reader, so the cancellation of
    ///   the reader reaches the function.
    public init(next: @escaping @Sendable () async throws -> [UInt8]?) {
        source = .pull(next)
    }

    /// Creates a body from bytes in memory.
    /// - Parameter bytes: The whole body; empty by default.
    public init(_ bytes: [UInt8] = []) {
        source = .whole(bytes)
    }

    /// Creates a body from bytes in memory, and notes whether a redirect led to another origin.
    init(_ bytes: [UInt8], isFromOtherOrigin: Bool) {
        self.init(bytes)
        self.isFromOtherOrigin = isFromOtherOrigin
    }

    /// Creates an iterator of the chunks. A body from a stream or a function can only be read once.
    public func makeAsyncIterator() -> Iterator {
        switch source {
        case .whole(let bytes): Iterator(source: .whole(bytes))
        case .stream(let chunks): Iterator(source: .stream(chunks.makeAsyncIterator()))
        case .pull(let next): Iterator(source: .pull(next))
        }
    }

    /// Returns the chunks of one body.
    public struct Iterator: AsyncIteratorProtocol {
        enum Source {
            case whole([UInt8])
            case stream(AsyncThrowingStream<[UInt8], any Error>.Iterator)
            case pull(@Sendable () async throws -> [UInt8]?)
        }

        var source: Source

        /// Returns the next chunk, or `nil` at the end.
        /// - Throws: The error of the source, usually ``TransportError``.
        public mutating func next() async throws -> [UInt8]? {
            switch source {
            case .whole(let bytes):
                source = .whole([])
                return bytes.isEmpty ? nil : bytes
            case .stream(var chunks):
                defer { source = .stream(chunks) }
                return try await chunks.next()
            case .pull(let next): return try await next()
            }
        }
    }

    /// Returns the bytes of a body that is in memory and has at most `limit` bytes. For any other body, the function returns `nil`, and the
    /// caller must collect the body.
    func whole(upTo limit: Int) -> [UInt8]? {
        if case .whole(let bytes) = source, bytes.count <= limit { bytes } else { nil }
    }

    /// Reads the whole body.
    ///
    /// - Parameter limit: The maximum number of bytes that are read. A negative number counts as 0.
    /// - Returns: The bytes, and whether the body is longer than the limit.
    /// - Throws: The error of the source; `CancellationError` if the task is canceled before the body is complete.
    public func collect(upTo limit: Int) async throws -> (bytes: [UInt8], isTruncated: Bool) {
        let limit = Swift.max(0, limit)
        if case .whole(let bytes) = source {
            return bytes.count <= limit ? (bytes, false) : (Array(bytes.prefix(limit)), true)
        }
        var bytes: [UInt8] = []
        for try await chunk in self {
            guard bytes.count + chunk.count <= limit else {
                bytes.append(contentsOf: chunk.prefix(limit - bytes.count))
                return (bytes, true)
            }
            // A small body has one chunk, which is used without a copy.
            if bytes.isEmpty { bytes = chunk } else { bytes.append(contentsOf: chunk) }
        }
        // If the reader is canceled, a stream ends without an error. The body would then appear to be complete.
        try Task.checkCancellation()
        return (bytes, false)
    }
}
