import Dispatch
public import Foundation
import Synchronization

/// The body of a request: bytes in memory, a file, or a stream.
///
/// The transport sends a file or a stream in chunks, so the memory use doesn't depend on the size of the body.
///
/// ```swift
/// let photo = RequestBody(file: url, contentType: "image/jpeg").reportingProgress { print($0.completed, $0.total ?? 0) }
/// let value: Photo = try await api.upload(.put, "/photos/7", photo)
/// ```
public struct RequestBody: Sendable {
    /// Writes a body chunk by chunk.
    ///
    /// The writer calls `write` for each chunk. `write` returns when the transport accepts the next chunk. If `write` throws, the transport
    /// accepts no more chunks, and the writer must rethrow the error. If the writer can't produce the body, it throws its own error. The
    /// writer must end when its task is canceled, because the call waits for the writer.
    public typealias Writer = @Sendable (_ write: @Sendable ([UInt8]) async throws -> Void) async throws -> Void

    /// The source of the bytes.
    public enum Content: Sendable {
        /// Bytes in memory.
        case bytes([UInt8])
        /// A file, which is read again for each attempt.
        case file(URL)
        /// A function that produces the bytes. The transport calls it once for each attempt. Without a length, the transport sends the body
        /// with `Transfer-Encoding: chunked` (RFC 9112 §7.1). With a length, the function must write exactly that number of bytes.
        case stream(length: Int64?, write: Writer)
    }

    /// The source of the bytes.
    public var content: Content
    /// The value of `Content-Type`.
    public var contentType: String
    /// Whether the body must not be sent twice, or can't be sent twice. Examples are a one-time code, and a stream that can be read only
    /// once. With `true`, the call is never retried.
    public var isOneShot: Bool
    /// A closure that the transport calls as it sends the body, on any thread. If the body is sent again, the progress starts again at 0.
    public var progress: (@Sendable (TransferProgress) -> Void)?

    /// Creates a body from bytes in memory.
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - contentType: The value of `Content-Type`, such as `application/json`.
    ///   - isOneShot: Whether the body must not be sent twice. With `true`, the call is never retried.
    public init(_ bytes: [UInt8], contentType: String, isOneShot: Bool = false) {
        self.init(.bytes(bytes), contentType: contentType, isOneShot: isOneShot)
    }

    /// Creates a body from a file. The file must not change until the call has ended.
    /// - Parameters:
    ///   - file: The file. The transport opens the file for each attempt, so the app may create the file after the body. If the file can't
    ///     be read, the call fails with the kind `invalidRequest`.
    ///   - contentType: The value of `Content-Type`.
    public init(file: URL, contentType: String = "application/octet-stream") {
        self.init(.file(file), contentType: contentType)
    }

    /// Creates a body from a sequence. The client creates the sequence again for each attempt.
    /// - Parameters:
    ///   - length: The number of bytes of the whole sequence; `nil` if it is unknown.
    ///   - contentType: The value of `Content-Type`.
    ///   - chunks: Returns a new sequence that starts at the beginning of the body.
    public init<Chunks: AsyncSequence & SendableMetatype>(
        length: Int64? = nil,
        contentType: String,
        chunks: @escaping @Sendable () throws -> Chunks
    ) where Chunks.Element == [UInt8], Chunks.AsyncIterator: SendableMetatype {
        let write: Writer = { write in for try await chunk in try chunks() { try await write(chunk) } }
        self.init(.stream(length: length, write: write), contentType: contentType)
    }

    /// Creates a body from a sequence that can only be read once. A call with this body is never retried. If the sequence can be created
    /// again, use ``init(length:contentType:chunks:)`` instead, so that the call can be retried.
    /// - Parameters:
    ///   - chunks: The chunks of the body in their order.
    ///   - length: The number of bytes of the whole sequence; `nil` if it is unknown.
    ///   - contentType: The value of `Content-Type`.
    public init<Chunks: AsyncSequence & Sendable>(
        oneShot chunks: Chunks,
        length: Int64? = nil,
        contentType: String
    ) where Chunks.Element == [UInt8], Chunks.AsyncIterator: SendableMetatype {
        self.init(length: length, contentType: contentType) { chunks }
        isOneShot = true
    }

    /// Creates a body from any source.
    /// - Parameters:
    ///   - content: The source of the bytes.
    ///   - contentType: The value of `Content-Type`.
    ///   - isOneShot: Whether the body must not be sent twice, or can't be sent twice. With `true`, the call is never retried.
    public init(_ content: Content, contentType: String, isOneShot: Bool = false) {
        self.content = content
        self.contentType = contentType
        self.isOneShot = isOneShot
    }

    /// The bytes of a body in memory; `nil` for a file or a stream.
    public var bytes: [UInt8]? { if case .bytes(let bytes) = content { bytes } else { nil } }

    /// Whether the bytes are in memory and the caller doesn't observe the progress.
    var isInMemory: Bool { if case .bytes = content { progress == nil } else { false } }

    /// The number of bytes, if the number is known before the body is sent. The length of a file is read from the file system.
    public var length: Int64? {
        switch content {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let url): FileChunks.length(of: url)
        case .stream(let length, _): length
        }
    }

    /// Returns the same body with a progress closure. The transport calls the closure as it sends the body.
    /// - Parameter progress: Receives the progress on any thread. The closure must return quickly. It replaces an earlier closure.
    public func reportingProgress(_ progress: @escaping @Sendable (TransferProgress) -> Void) -> RequestBody {
        var body = self
        body.progress = progress
        return body
    }
}

/// The progress of a transfer.
public struct TransferProgress: Hashable, Sendable {
    /// The number of transferred bytes. For a resumed download, this number includes the bytes of the earlier download.
    public var completed: Int64
    /// The number of bytes of the whole transfer; `nil` if it is unknown.
    public var total: Int64?

    /// Creates a progress.
    /// - Parameters:
    ///   - completed: The number of transferred bytes.
    ///   - total: The number of bytes of the whole transfer; `nil` if it is unknown.
    public init(completed: Int64, total: Int64? = nil) {
        self.completed = completed
        self.total = total
    }

    /// The transferred part, from 0 to 1; `nil` if the total is unknown.
    public var fraction: Double? { total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 } }
}

extension RequestBody {
    /// The size of the chunks of bytes in memory and of files.
    public static let chunkSize = 65_536

    /// Writes the body for one attempt. Use this method in a transport whose engine accepts chunks. The method doesn't report progress,
    /// because only the transport knows which bytes its engine has sent.
    ///
    /// - Parameter write: Passes a chunk to the engine, and returns when the engine accepts the next chunk. The method splits bytes in
    ///   memory and files into chunks of at most ``chunkSize`` bytes. For a stream, its writer determines the size of the chunks.
    /// - Throws: ``TransportError`` with the code ``TransportError/Code/invalidRequest`` if the body can't be read, or if its length
    ///   differs from the specified length. Otherwise, the error of `write`.
    public func write(to write: @escaping @Sendable ([UInt8]) async throws -> Void) async throws {
        let written = Atomic<Int64>(0)
        // The error that `write` threw. It shows that the engine failed, and not the body.
        let refusal = Mutex<(any Error)?>(nil)
        let length = length
        let count: @Sendable ([UInt8]) async throws -> Void = { chunk in
            let sum = written.add(Int64(chunk.count), ordering: .relaxed).newValue
            if let length, sum > length { throw Self.unreadable("the body is longer than announced") }
            do {
                try await write(chunk)
            } catch {
                refusal.withLock { $0 = error }
                throw error
            }
        }
        do {
            switch content {
            case .bytes(let bytes):
                var rest = bytes[...]
                while !rest.isEmpty {
                    try await count(Array(rest.prefix(Self.chunkSize)))
                    rest = rest.dropFirst(Self.chunkSize)
                }
            case .file(let url):
                let file = try FileChunks(url)
                while let chunk = try await file.next() { try await count(chunk) }
            case .stream(_, let writer): try await writer(count)
            }
        } catch {
            if let refusal = refusal.withLock(\.self) { throw refusal }
            if error is TransportError || error is CancellationError { throw error }
            throw Self.unreadable("the body could not be read", error)
        }
        if let length, written.load(ordering: .relaxed) < length { throw Self.unreadable("the body is shorter than announced") }
    }

    /// Returns the error of a body that can't be read. The error assumes that a part of the body has already been sent.
    private static func unreadable(_ message: String, _ cause: (any Error)? = nil) -> TransportError {
        TransportError(.invalidRequest, message: message, wasSent: true, cause: cause)
    }
}

/// Reads the bytes of a file in chunks. The reads run on a separate queue, because reading a file blocks the thread.
public final class FileChunks: Sendable {
    private let queue = DispatchQueue(label: "holdfast.file", autoreleaseFrequency: .workItem)
    private let handle: Mutex<FileHandle>

    /// Opens a file.
    /// - Parameter url: The address of a file that this process may read.
    /// - Throws: The error of the file system.
    public init(_ url: URL) throws {
        handle = Mutex(try FileHandle(forReadingFrom: url))
    }

    deinit {
        handle.withLock { try? $0.close() }
    }

    /// Returns the next chunk, or `nil` at the end of the file.
    /// - Returns: At most ``RequestBody/chunkSize`` bytes.
    /// - Throws: The error of the file system. If the task is canceled, a read that has begun continues to its end.
    public func next() async throws -> [UInt8]? {
        try await queue.run { [self] in try read() }
    }

    /// Returns the next chunk, or `nil` at the end of the file. Blocks the thread.
    /// - Parameter count: The maximum number of bytes; positive.
    /// - Throws: The error of the file system.
    public func read(upTo count: Int = RequestBody.chunkSize) throws -> [UInt8]? {
        let data = try handle.withLock { try $0.read(upToCount: count) }
        return data.flatMap { $0.isEmpty ? nil : [UInt8]($0) }
    }

    /// Returns the size of a file; `nil` if the file system doesn't report it.
    static func length(of url: URL) -> Int64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path(percentEncoded: false))
        return (attributes?[.size] as? NSNumber)?.int64Value
    }
}
