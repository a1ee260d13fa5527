import Foundation
import ResilientHTTP
import Synchronization

/// The chunks of one body that have arrived and have not been read. There is one producer, the session, and one reader.
///
/// When ``limit`` bytes are unread, the session is paused. On Linux, where that is impossible, further bytes are written to a
/// temporary file.
final class Inbox: Sendable {
    private typealias Reader = CheckedContinuation<[UInt8]?, any Error>

    private struct State {
        var chunks: [[UInt8]] = []
        /// The index of the first unread chunk.
        var first = 0
        /// The number of unread bytes.
        var stored = 0
        var end: Result<Void, TransportError>?
        var reader: Reader?
        var isPaused = false
        /// The file with the bytes that did not fit into memory, and the number of unread ones. They arrived after ``chunks``.
        #if canImport(FoundationNetworking)
            var file: TemporaryFile?
            var filed = 0
        #endif
        /// Whether no more bytes are stored, because the exchange was canceled.
        var isClosed = false
    }

    private let state = Mutex(State())
    private let limit: Int
    private let setPaused: @Sendable (Bool) -> Void
    /// - Parameters:
    ///   - limit: The number of stored bytes at which the producer pauses.
    ///   - setPaused: Called under a lock when the producer pauses and resumes.
    init(limit: Int, setPaused: @escaping @Sendable (Bool) -> Void = { _ in }) {
        (self.limit, self.setPaused) = (limit, setPaused)
    }

    /// Stores a chunk, or passes it to a waiting reader.
    func deliver(_ chunk: [UInt8]) {
        let reader = state.withLock { state -> Reader? in
            guard !state.isClosed, state.end == nil, !chunk.isEmpty else { return nil }
            if let reader = state.reader.take() { return reader }
            #if canImport(FoundationNetworking)
                if state.filed > 0 || state.stored >= limit {
                    store(chunk, &state)
                    return nil
                }
            #endif
            state.chunks.append(chunk)
            state.stored += chunk.count
            #if !canImport(FoundationNetworking)
                if state.stored >= limit, !state.isPaused {
                    state.isPaused = true
                    setPaused(true)
                }
            #endif
            return nil
        }
        reader?.resume(returning: chunk)
    }

    #if canImport(FoundationNetworking)
        /// Appends a chunk to the file. It is called on the queue of the session, which may block while a file is written.
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

        /// Returns bytes from the file.
        private func nextOfFile(_ file: TemporaryFile) async throws -> [UInt8]? {
            let chunk = try await file.perform { try $0.read() ?? [] }
            state.withLock { $0.filed -= chunk.count }
            return chunk
        }
    #endif

    /// Ends the body.
    func finish(_ error: TransportError?) {
        let reader = state.withLock { state -> Reader? in
            guard state.end == nil else { return nil }
            state.end = error.map { .failure($0) } ?? .success(())
            return state.reader.take()
        }
        if let error { reader?.resume(throwing: error) } else { reader?.resume(returning: nil) }
    }

    /// Drops further chunks.
    func close() {
        state.withLock { state in
            state.isClosed = true
            unpause(&state)
        }
    }

    /// Returns the next chunk, or `nil` at the end.
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
                if state.stored < limit / 2 { unpause(&state) }
                return .success(chunk)
            }
            if let known { reader.resume(with: known) }
        }
    }

    private func unpause(_ state: inout State) {
        guard state.isPaused else { return }
        state.isPaused = false
        setPaused(false)
    }
}

/// The reader of one body. Releasing it before the end of the body cancels the exchange.
final class BodyReader: Sendable {
    private let inbox: Inbox
    private let cancel: @Sendable () -> Void

    init(_ inbox: Inbox, cancel: @escaping @Sendable () -> Void) {
        (self.inbox, self.cancel) = (inbox, cancel)
    }

    deinit {
        cancel()
    }

    /// Returns the next chunk, or `nil` at the end.
    func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await inbox.next()
        } onCancel: {
            cancel()
        }
    }
}
