/// The body of an answer, in chunks as they arrive.
public struct ResponseBody: AsyncSequence, Sendable {
    /// A chunk.
    public typealias Element = [UInt8]
    private let chunks: AsyncThrowingStream<[UInt8], any Error>

    /// Creates a body from a stream; the stream's errors should be ``TransportError``.
    public init(_ chunks: AsyncThrowingStream<[UInt8], any Error>) {
        self.chunks = chunks
    }

    /// Creates a body that is there already.
    public init(_ bytes: [UInt8] = []) {
        self.chunks = AsyncThrowingStream { continuation in
            if !bytes.isEmpty { continuation.yield(bytes) }
            continuation.finish()
        }
    }

    /// Reads the chunks; a body can be read once.
    public func makeAsyncIterator() -> AsyncThrowingStream<[UInt8], any Error>.Iterator {
        chunks.makeAsyncIterator()
    }

    /// Reads the body whole.
    /// - Parameter limit: The number of bytes past which reading stops.
    /// - Returns: The bytes, and whether there were more than the limit.
    /// - Throws: The stream's error; `CancellationError` if the task was cancelled before the body was complete.
    public func collect(upTo limit: Int) async throws -> (bytes: [UInt8], isTruncated: Bool) {
        var bytes: [UInt8] = []
        for try await chunk in self {
            guard bytes.count + chunk.count <= limit else {
                bytes.append(contentsOf: chunk.prefix(limit - bytes.count))
                return (bytes, true)
            }
            bytes.append(contentsOf: chunk)
        }
        // A stream ends without an error when its reader is cancelled: what is there would look complete.
        try Task.checkCancellation()
        return (bytes, false)
    }
}
