import Dispatch
public import Foundation
import Synchronization

extension RequestBody {
    /// The size of the chunks of bytes in memory and of files.
    public static let chunkSize = 65_536

    /// Writes the body for one attempt, for a transport whose engine takes chunks. It doesn't report progress: the transport does, which knows
    /// what its engine has sent.
    /// - Throws: ``TransportError`` with the code ``TransportError/Code/invalidRequest`` if the body can't be read or does not have the length
    ///   that was announced; otherwise the error of `write`.
    public func write(to write: @escaping @Sendable ([UInt8]) async throws -> Void) async throws {
        let written = Atomic<Int64>(0)
        // Which errors are the engine's and which are the body's.
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

    private static func unreadable(_ message: String, _ cause: (any Error)? = nil) -> TransportError {
        TransportError(.invalidRequest, message: message, wasSent: true, cause: cause)
    }
}

/// The bytes of a file, read in chunks on a separate queue: reading a file blocks its thread.
public final class FileChunks: Sendable {
    private let queue = DispatchQueue(label: "holdfast.file", autoreleaseFrequency: .workItem)
    private let handle: Mutex<FileHandle>

    /// Opens a file.
    /// - Throws: The error of the file system.
    public init(_ url: URL) throws {
        handle = Mutex(try FileHandle(forReadingFrom: url))
    }

    deinit {
        handle.withLock { try? $0.close() }
    }

    /// Returns the next chunk, or `nil` at the end of the file.
    public func next() async throws -> [UInt8]? {
        try await withCheckedThrowingContinuation { reader in
            queue.async { [self] in reader.resume(with: Result { try read() }) }
        }
    }

    /// Returns the next chunk, or `nil` at the end of the file. It blocks its thread.
    public func read(upTo count: Int = RequestBody.chunkSize) throws -> [UInt8]? {
        let data = try handle.withLock { try $0.read(upToCount: count) }
        return data.flatMap { $0.isEmpty ? nil : [UInt8]($0) }
    }

    /// The size of a file; `nil` if it can't be read.
    static func length(of url: URL) -> Int64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path(percentEncoded: false))
        return (attributes?[.size] as? NSNumber)?.int64Value
    }
}
