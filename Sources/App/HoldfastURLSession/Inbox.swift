import Foundation
import ResilientHTTP
import Synchronization

/// The chunks of a response's body that have arrived and have not been read. The `URLSession` is the only producer, and there is only one
/// reader.
///
/// When ``limit`` bytes are unread, the inbox pauses the exchange. When less than half of the limit is unread, the exchange continues. On
/// Linux, a pause stops only the idle timeout, because the session can't be paused. Instead, the inbox writes further bytes to a temporary
/// file. The reader gets these bytes after the bytes in memory.
///
/// At most one call of ``next()`` may wait. The inbox resumes continuations outside of the lock.
final class Inbox: Sendable {
    private typealias Reader = CheckedContinuation<[UInt8]?, any Error>

    /// The chunks and the end, guarded by a mutex. While a reader waits, the inbox has no chunks, and the body has not ended.
    private struct State {
        /// The chunks. After a chunk was read, an empty array replaces it. After the last chunk was read, the inbox removes all chunks.
        /// Reading therefore takes O(1).
        var chunks: [[UInt8]] = []
        /// The index of the first unread chunk.
        var first = 0
        /// The number of unread bytes in memory.
        var stored = 0
        /// The result after the last chunk: success, or an error; `nil` while bytes can arrive.
        var end: Result<Void, TransportError>?
        /// The waiting reader.
        var reader: Reader?
        /// Whether the inbox has paused the exchange.
        var isPaused = false
        #if canImport(FoundationNetworking)
            /// The file with the bytes that did not fit into memory. These bytes arrived after ``chunks``.
            var file: TemporaryFile?
            /// The number of unread bytes in the file.
            var filed = 0
        #endif
        /// Whether the inbox ignores further bytes, because the request was canceled.
        var isClosed = false

        /// The number of unread bytes, in memory and in the file.
        var unread: Int {
            #if canImport(FoundationNetworking)
                stored + filed
            #else
                stored
            #endif
        }
    }

    private let state = Mutex(State())
    /// The number of unread bytes at which the exchange pauses.
    private let limit: Int
    private let setPaused: @Sendable (Bool) -> Void
    /// Creates an empty inbox.
    /// - Parameters:
    ///   - limit: The number of unread bytes at which the producer pauses.
    ///   - setPaused: Receives `true` when the producer and its idle timeout must pause, and `false` when they may continue. On Linux, the
    ///     producer itself can't pause. The inbox is locked during the call, so the closure must not call the inbox.
    init(limit: Int, setPaused: @escaping @Sendable (Bool) -> Void = { _ in }) {
        (self.limit, self.setPaused) = (limit, setPaused)
    }

    /// Stores a chunk, or passes it to a waiting reader. Ignores an empty chunk, and a chunk after the end.
    ///
    /// If the chunk fills the inbox, the inbox pauses the exchange. The session can still deliver chunks that have already arrived, and on
    /// Linux also further chunks.
    /// - Parameter chunk: The next bytes of the body.
    func deliver(_ chunk: [UInt8]) {
        let reader = state.withLock { state -> Reader? in
            guard !state.isClosed, state.end == nil, !chunk.isEmpty else { return nil }
            if let reader = state.reader.take() { return reader }
            add(chunk, &state)
            if state.unread >= limit, !state.isPaused {
                state.isPaused = true
                setPaused(true)
            }
            return nil
        }
        reader?.resume(returning: chunk)
    }

    /// Adds a chunk to the unread bytes. On Linux, the chunk goes to the file if the memory is full, or if the file has unread bytes.
    private func add(_ chunk: [UInt8], _ state: inout State) {
        #if canImport(FoundationNetworking)
            if state.filed > 0 || state.stored >= limit { return store(chunk, &state) }
        #endif
        state.chunks.append(chunk)
        state.stored += chunk.count
    }

    #if canImport(FoundationNetworking)
        /// Appends a chunk to the file. The session calls this method on its own queue, which may block during the write.
        private func store(_ chunk: [UInt8], _ state: inout State) {
            do {
                let file = try state.file ?? TemporaryFile()
                state.file = file
                try file.append(chunk)
                state.filed += chunk.count
            } catch {
                state.end = .failure(
                    TransportError(.other, message: "no room for the body in a file", wasSent: true, cause: error)
                )
            }
        }

        /// Returns the next bytes from the file. The method reads the file on a separate queue, not in the cooperative thread pool.
        private func nextOfFile(_ file: TemporaryFile) async throws -> [UInt8]? {
            let chunk = try await file.perform { try $0.read() ?? [] }
            state.withLock { state in
                state.filed -= chunk.count
                if state.unread < limit / 2 { unpause(&state) }
            }
            return chunk
        }
    #endif

    /// Ends the body. Ignores further calls.
    /// - Parameter error: The reason; `nil` for a complete body. The reader gets the error after the stored chunks.
    func finish(_ error: TransportError?) {
        let reader = state.withLock { state -> Reader? in
            guard state.end == nil else { return nil }
            state.end = error.map { .failure($0) } ?? .success(())
            return state.reader.take()
        }
        if let error { reader?.resume(throwing: error) } else { reader?.resume(returning: nil) }
    }

    /// Ignores further chunks, and continues the exchange, because a paused session could not end. The reader can still read the stored
    /// chunks.
    func close() {
        state.withLock { state in
            state.isClosed = true
            unpause(&state)
        }
    }

    /// Returns the next chunk, or `nil` at the end. If there is no chunk, the method waits until the session delivers a chunk or ends the
    /// body.
    /// - Throws: The `TransportError` that has ended the body. The method first returns all chunks that arrived before this error. On
    ///   Linux, the method can also throw an error of the temporary file.
    func next() async throws -> [UInt8]? {
        #if canImport(FoundationNetworking)
            let file = state.withLock { $0.first == $0.chunks.count && $0.filed > 0 ? $0.file : nil }
            if let file { return try await nextOfFile(file) }
        #endif
        return try await withCheckedThrowingContinuation { reader in
            let known = state.withLock { state -> Result<[UInt8]?, any Error>? in
                guard state.first < state.chunks.count else {
                    switch state.end {
                    case .success: return .success(nil)
                    case .failure(let error): return .failure(error)
                    case nil:
                        state.reader = reader
                        return nil
                    }
                }
                let chunk = state.chunks[state.first]
                state.first += 1
                state.stored -= chunk.count
                if state.first == state.chunks.count {
                    state.chunks.removeAll(keepingCapacity: true)
                    state.first = 0
                } else {
                    state.chunks[state.first - 1] = []
                }
                if state.unread < limit / 2 { unpause(&state) }
                return .success(chunk)
            }
            if let known { reader.resume(with: known) }
        }
    }

    /// Continues the exchange if it is paused.
    private func unpause(_ state: inout State) {
        guard state.isPaused else { return }
        state.isPaused = false
        setPaused(false)
    }
}

/// The reader of one body. If the reader is released before the end of the body, it cancels the request. If a caller doesn't read the whole
/// response, the connection therefore closes.
final class BodyReader: Sendable {
    private let inbox: Inbox
    private let cancel: @Sendable () -> Void

    /// Creates the reader of an inbox.
    /// - Parameters:
    ///   - inbox: The chunks of the body.
    ///   - cancel: Cancels the request. The reader calls this closure when the reading task is canceled, and when the reader is released.
    init(_ inbox: Inbox, cancel: @escaping @Sendable () -> Void) {
        (self.inbox, self.cancel) = (inbox, cancel)
    }

    deinit {
        cancel()
    }

    /// Returns the next chunk, or `nil` at the end. If the task is canceled, the method also cancels the request. The end of the request
    /// then resumes the reader.
    func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await inbox.next()
        } onCancel: {
            cancel()
        }
    }
}
