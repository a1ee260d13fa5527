import Foundation
import ResilientHTTP
import Synchronization

/// Carries the chunks of a request's body from a task to the thread on which `URLSession` reads them, one chunk at a time.
final class UploadPipe: Sendable {
    /// The exchange takes no more bytes.
    struct Closed: Error {}

    private struct State {
        var chunk: [UInt8]?
        var writer: CheckedContinuation<Void, any Error>?
        var waiter: CheckedContinuation<Void, Never>?
        /// Whether the body was written whole.
        var isFinished = false
        /// Whether the exchange has ended.
        var isClosed = false
    }

    private let state = Mutex(State())
    #if canImport(FoundationNetworking)
        private let changed = DispatchSemaphore(value: 0)
    #else
        private let queue = DispatchQueue(label: "holdfast.upload")
        private let streams: Streams

        /// The ends of the pipe. The session uses one, the queue the other.
        private struct Streams: @unchecked Sendable {
            let input: InputStream?
            let output: OutputStream?

            init() {
                var (input, output): (InputStream?, OutputStream?)
                Stream.getBoundStreams(withBufferSize: RequestBody.chunkSize, inputStream: &input, outputStream: &output)
                (self.input, self.output) = (input, output)
            }
        }

        init() {
            streams = Streams()
            streams.output?.open()
        }

        /// The stream that the session reads.
        var input: InputStream? { streams.input }
    #endif

    /// Passes a chunk on and returns when the session can take the next one.
    func write(_ chunk: [UInt8]) async throws {
        guard !chunk.isEmpty else { return }
        #if canImport(FoundationNetworking)
            try await withCheckedThrowingContinuation { writer in
                let isClosed = state.withLock { state in
                    guard !state.isClosed else { return true }
                    (state.chunk, state.writer) = (chunk, writer)
                    return false
                }
                if isClosed { writer.resume(throwing: Closed()) } else { changed.signal() }
            }
        #else
            try await withCheckedThrowingContinuation { (writer: CheckedContinuation<Void, any Error>) in
                queue.async { [self] in
                    var rest = chunk[...]
                    while !rest.isEmpty {
                        // It blocks until there is room, and fails when the session has closed its end.
                        let count = rest.withUnsafeBufferPointer { buffer in
                            buffer.baseAddress.flatMap { streams.output?.write($0, maxLength: buffer.count) } ?? -1
                        }
                        guard count > 0, !state.withLock(\.isClosed) else { return writer.resume(throwing: Closed()) }
                        rest = rest.dropFirst(count)
                    }
                    writer.resume()
                }
            }
        #endif
    }

    /// Ends the body.
    func finish() {
        end { $0.isFinished = true }
        #if !canImport(FoundationNetworking)
            queue.async { [streams] in streams.output?.close() }
        #endif
    }

    /// Ends the exchange: what was not sent is dropped.
    func close() {
        end { $0.isClosed = true }
        #if !canImport(FoundationNetworking)
            // This lets a blocked writer go.
            streams.input?.close()
        #endif
    }

    /// Returns when the body was written whole or the exchange has ended.
    func ended() async {
        await withCheckedContinuation { waiter in
            let hasEnded = state.withLock { state in
                if state.isFinished || state.isClosed { return true }
                state.waiter = waiter
                return false
            }
            if hasEnded { waiter.resume() }
        }
    }

    private func end(_ change: (inout State) -> Void) {
        let (writer, waiter) = state.withLock { state in
            change(&state)
            if state.isClosed { state.chunk = nil }
            return (state.isClosed ? state.writer.take() : nil, state.waiter.take())
        }
        writer?.resume(throwing: Closed())
        waiter?.resume()
        #if canImport(FoundationNetworking)
            changed.signal()
        #endif
    }

    #if canImport(FoundationNetworking)
        /// Returns the next chunk, or `nil` at the end of the body. It blocks its thread until there is one.
        /// - Throws: ``Closed`` if the exchange has ended.
        func read() throws -> [UInt8]? {
            while true {
                let (chunk, writer, isFinished) = try state.withLock { state in
                    guard !state.isClosed else { throw Closed() }
                    return (state.chunk.take(), state.writer.take(), state.isFinished)
                }
                if let chunk {
                    writer?.resume()
                    return chunk
                }
                if isFinished { return nil }
                changed.wait()
            }
        }
    #endif
}

#if canImport(FoundationNetworking)
    /// A body that `URLSession` on Linux reads on the queue of its session, which may block: it reads `httpBodyStream` as it sends, in pieces of 64 KiB,
    /// other than `uploadTask(with:fromFile:)`, which needs ten times as long.
    final class BodyInputStream: InputStream {
        private let next: () throws -> [UInt8]?
        /// The bytes that must still be read; `nil` if the length is not known.
        private var missing: Int64?
        private var chunk: ArraySlice<UInt8> = []
        private var status = Stream.Status.notOpen

        /// - Parameters:
        ///   - length: The number of bytes, if it is known.
        ///   - next: Returns the next chunk, or `nil` at the end.
        init(length: Int64?, next: @escaping () throws -> [UInt8]?) {
            (missing, self.next) = (length, next)
            super.init(data: Data())
        }

        override var streamStatus: Stream.Status { status }
        override var hasBytesAvailable: Bool { true }
        override func open() { status = .open }
        override func close() { status = .closed }

        override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
            do {
                if chunk.isEmpty { chunk = try next()?[...] ?? [] }
            } catch {
                return -1
            }
            let count = min(maxLength, chunk.count)
            if let missing {
                // A file that changed: the server must not take the body for whole.
                guard count > 0 ? Int64(count) <= missing : missing == 0 else { return -1 }
                self.missing = missing - Int64(count)
            }
            chunk.prefix(count).withUnsafeBufferPointer { bytes in
                if let source = bytes.baseAddress { buffer.update(from: source, count: count) }
            }
            chunk = chunk.dropFirst(count)
            return count
        }
    }
#endif
