import Foundation
import ResilientHTTP
import Synchronization

/// The chunks of one body that have arrived and were not read. One producer, the session, and one reader.
final class Inbox: Sendable {
    private typealias Reader = CheckedContinuation<[UInt8]?, any Error>

    private struct State {
        var chunks: [[UInt8]] = []
        /// The first chunk that was not read.
        var first = 0
        /// The number of bytes that were not read.
        var stored = 0
        var end: Result<Void, TransportError>?
        var reader: Reader?
        var isPaused = false
        /// Whether no more bytes are stored, because the exchange was canceled.
        var isClosed = false
    }

    private let state = Mutex(State())
    private let limit: Int
    private let setPaused: @Sendable (Bool) -> Void
    #if canImport(FoundationNetworking)
        private let room = DispatchSemaphore(value: 0)
    #endif

    /// - Parameters:
    ///   - limit: The number of stored bytes at which the producer pauses.
    ///   - setPaused: Called under a lock when the producer pauses and continues.
    init(limit: Int, setPaused: @escaping @Sendable (Bool) -> Void = { _ in }) {
        (self.limit, self.setPaused) = (limit, setPaused)
    }

    /// Stores a chunk or passes it to the reader that waits.
    ///
    /// On Linux, `URLSession` has no other way to pause than to block the queue of the session, on which it calls this method. Therefore an exchange
    /// whose inbox has a limit has a session of its own there.
    func deliver(_ chunk: [UInt8]) {
        let (reader, isFull) = state.withLock { state -> (Reader?, Bool) in
            guard !state.isClosed, state.end == nil, !chunk.isEmpty else { return (nil, false) }
            if let reader = state.reader.take() { return (reader, false) }
            state.chunks.append(chunk)
            state.stored += chunk.count
            guard state.stored >= limit, !state.isPaused else { return (nil, false) }
            state.isPaused = true
            setPaused(true)
            return (nil, true)
        }
        reader?.resume(returning: chunk)
        #if canImport(FoundationNetworking)
            if isFull { room.wait() }
        #else
            _ = isFull
        #endif
    }

    /// Ends the body.
    func finish(_ error: TransportError?) {
        let reader = state.withLock { state -> Reader? in
            guard state.end == nil else { return nil }
            state.end = error.map { .failure($0) } ?? .success(())
            return state.reader.take()
        }
        if let error { reader?.resume(throwing: error) } else { reader?.resume(returning: nil) }
    }

    /// Stores no more chunks and lets a producer go that waits.
    func close() {
        state.withLock { state in
            state.isClosed = true
            unpause(&state)
        }
    }

    /// Returns the next chunk, or `nil` at the end.
    func next() async throws -> [UInt8]? {
        try await withCheckedThrowingContinuation { reader in
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
        #if canImport(FoundationNetworking)
            room.signal()
        #endif
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
