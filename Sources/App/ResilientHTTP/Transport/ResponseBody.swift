/// The body of an answer, in chunks as they arrive.
public struct ResponseBody: AsyncSequence, Sendable {
    /// A chunk.
    public typealias Element = [UInt8]

    private enum Source: Sendable {
        case whole([UInt8])
        case stream(AsyncThrowingStream<[UInt8], any Error>)
        case pull(@Sendable () async throws -> [UInt8]?)
    }

    private let source: Source

    /// Creates a body from a stream; the stream's errors should be ``TransportError``.
    public init(_ chunks: AsyncThrowingStream<[UInt8], any Error>) {
        source = .stream(chunks)
    }

    /// Creates a body from a function that returns the next chunk, or `nil` at the end.
    ///
    /// It costs less than a stream. The function is called by one reader at a time and should throw ``TransportError``.
    public init(next: @escaping @Sendable () async throws -> [UInt8]?) {
        source = .pull(next)
    }

    /// Creates a body that is there already.
    public init(_ bytes: [UInt8] = []) {
        source = .whole(bytes)
    }

    /// Reads the chunks; a body that comes from a stream can be read once.
    public func makeAsyncIterator() -> Iterator {
        switch source {
        case .whole(let bytes): Iterator(source: .whole(bytes))
        case .stream(let chunks): Iterator(source: .stream(chunks.makeAsyncIterator()))
        case .pull(let next): Iterator(source: .pull(next))
        }
    }

    /// Hands out the chunks of one body.
    public struct Iterator: AsyncIteratorProtocol {
        enum Source {
            case whole([UInt8])
            case stream(AsyncThrowingStream<[UInt8], any Error>.Iterator)
            case pull(@Sendable () async throws -> [UInt8]?)
        }

        var source: Source

        /// The next chunk, or `nil` at the end.
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

    /// The bytes of a body that has arrived and has at most a number of bytes; `nil` for any other, which must be collected.
    func whole(upTo limit: Int) -> [UInt8]? {
        if case .whole(let bytes) = source, bytes.count <= limit { bytes } else { nil }
    }

    /// Reads the body whole.
    /// - Parameter limit: The number of bytes past which reading stops.
    /// - Returns: The bytes, and whether there were more than the limit.
    /// - Throws: The stream's error; `CancellationError` if the task was cancelled before the body was complete.
    public func collect(upTo limit: Int) async throws -> (bytes: [UInt8], isTruncated: Bool) {
        if case .whole(let bytes) = source {
            return bytes.count <= limit ? (bytes, false) : (Array(bytes.prefix(limit)), true)
        }
        var bytes: [UInt8] = []
        for try await chunk in self {
            guard bytes.count + chunk.count <= limit else {
                bytes.append(contentsOf: chunk.prefix(limit - bytes.count))
                return (bytes, true)
            }
            // Small bodies have one chunk, which need not be copied.
            if bytes.isEmpty { bytes = chunk } else { bytes.append(contentsOf: chunk) }
        }
        // A stream ends without an error when its reader is cancelled: what is there would look complete.
        try Task.checkCancellation()
        return (bytes, false)
    }
}
