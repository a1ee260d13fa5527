#if !canImport(FoundationNetworking)
    import Foundation
    import ResilientHTTP
    import Synchronization

    /// Passes the chunks of a request's body, one at a time, from a task to the thread of `URLSession` that reads them.
    ///
    /// The pipe is a pair of bound streams with a buffer of one chunk. A write blocks a private queue, not the cooperative thread pool,
    /// until the session has read the chunk. A slow network therefore pauses the producer, so the memory use is limited.
    final class UploadPipe: Sendable {
        /// The error of a write after the session has stopped reading the body.
        struct Closed: Error {}

        /// Whether the session has stopped reading the body.
        var isClosed: Bool { state.withLock(\.isClosed) }

        /// The state of the pipe, and the task that waits for its end, guarded by a mutex.
        private struct State {
            var waiter: CheckedContinuation<Void, Never>?
            /// Whether the whole body was written.
            var isFinished = false
            /// Whether the session has stopped reading the body.
            var isClosed = false
        }

        private let state = Mutex(State())
        /// Runs the blocking writes, one after another.
        private let queue = DispatchQueue(label: "holdfast.upload")
        private let streams: Streams

        /// The two ends of the pipe. The session reads the input, and the private queue writes to the output. The type is `@unchecked
        /// Sendable`, because only one thread at a time uses each end. Only the input may also be closed by any thread.
        private struct Streams: @unchecked Sendable {
            let input: InputStream?
            let output: OutputStream?

            init() {
                var (input, output): (InputStream?, OutputStream?)
                Stream.getBoundStreams(withBufferSize: RequestBody.chunkSize, inputStream: &input, outputStream: &output)
                (self.input, self.output) = (input, output)
            }
        }

        /// Creates the pipe and opens its output.
        init() {
            streams = Streams()
            streams.output?.open()
        }

        /// The stream that the session reads.
        var input: InputStream? { streams.input }

        /// Passes a chunk to the session. While the pipe's buffer is full, the method waits until the session reads from it. The method
        /// returns when all bytes of the chunk are in the buffer. If the task is canceled, the method continues to wait. To end the wait,
        /// call ``close()``.
        /// - Parameter chunk: The bytes. The method ignores an empty chunk.
        /// - Throws: ``Closed`` if the request has ended.
        func write(_ chunk: [UInt8]) async throws {
            guard !chunk.isEmpty else { return }
            try await queue.run { [self] () throws -> Void in
                var rest = chunk[...]
                while !rest.isEmpty {
                    guard !isClosed else { throw Closed() }
                    // The write blocks until there is space. The write fails if the session has closed the input.
                    let count = rest.withUnsafeBufferPointer { buffer in
                        buffer.baseAddress.flatMap { streams.output?.write($0, maxLength: buffer.count) } ?? -1
                    }
                    guard count > 0, !isClosed else { throw Closed() }
                    rest = rest.dropFirst(count)
                }
            }
        }

        /// Ends the body. After the last chunk, the session reads the end of the stream. Call this method once, after the last
        /// ``write(_:)``.
        func finish() {
            end { $0.isFinished = true }
            queue.async { [streams] in streams.output?.close() }
        }

        /// Ends the transfer. The pipe drops bytes that were not sent, and a waiting ``write(_:)`` throws ``Closed``. Further calls have no
        /// effect.
        func close() {
            end { $0.isClosed = true }
            // Closing the input unblocks a waiting writer. The system ignores the closing of a stream that was never opened, and a session
            // without a connection has not opened the input.
            streams.input?.open()
            streams.input?.close()
        }

        /// Returns when the whole body was written, or when ``close()`` was called. Only one task may wait.
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

        /// Changes the state and resumes the waiting task.
        private func end(_ change: (inout State) -> Void) {
            let waiter = state.withLock { state in
                change(&state)
                return state.waiter.take()
            }
            waiter?.resume()
        }
    }
#endif
