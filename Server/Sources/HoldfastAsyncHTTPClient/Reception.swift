import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// Takes what the engine receives for one request, and keeps it for its reader: where 64 KiB wait, the engine reads on when they are taken.
///
/// A small answer is complete before its reader comes for it, who need not be sent back and forth between two threads for its end.
final class Reception: HTTPClientResponseDelegate {
    typealias Response = Void

    private struct State {
        var head: HTTPResponseHead?
        var chunks = CircularBuffer<ByteBuffer>()
        /// The bytes in all chunks.
        var waiting = 0
        /// Kept when no more waits than may.
        var taken: EventLoopPromise<Void>?
        var end: Result<Void, any Error>?
        var headReader: CheckedContinuation<HTTPResponseHead, any Error>?
        var chunkReader: CheckedContinuation<ByteBuffer?, any Error>?
    }

    /// The exchange ended without a head and without an error.
    struct NoHead: Error {}

    /// How many bytes may wait for the reader.
    static let mostWaiting = 65_536
    private let state = Mutex(State())

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let reader = state.withLock { state in
            state.head = head
            return state.headReader.take()
        }
        reader?.resume(returning: head)
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let (reader, taken) = state.withLock { state -> (CheckedContinuation<ByteBuffer?, any Error>?, EventLoopPromise<Void>?) in
            if let reader = state.chunkReader.take() { return (reader, nil) }
            guard state.end == nil else { return (nil, nil) }
            state.chunks.append(buffer)
            state.waiting += buffer.readableBytes
            if state.waiting >= Self.mostWaiting { state.taken = task.eventLoop.makePromise() }
            return (nil, state.taken)
        }
        reader?.resume(returning: buffer)
        return taken?.futureResult ?? task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {}

    /// Notes that the exchange is over; what came before its end is still read.
    func end(_ result: Result<Void, any Error>) {
        let (headReader, chunkReader, taken) = state.withLock { state in
            guard state.end == nil else { return (nil, nil, nil) as Waiting }
            state.end = result
            return (state.headReader.take(), state.chunkReader.take(), state.taken.take())
        }
        // Nobody counts on it any more, but a promise must be kept.
        taken?.succeed()
        headReader?.resume(throwing: result.failure ?? NoHead())
        if let error = result.failure { chunkReader?.resume(throwing: error) } else { chunkReader?.resume(returning: nil) }
    }

    private typealias Waiting = (
        CheckedContinuation<HTTPResponseHead, any Error>?, CheckedContinuation<ByteBuffer?, any Error>?, EventLoopPromise<Void>?
    )

    /// Waits for the head.
    func head() async throws -> HTTPResponseHead {
        try await withCheckedThrowingContinuation { reader in
            let known = state.withLock { state -> Result<HTTPResponseHead, any Error>? in
                if let head = state.head { return .success(head) }
                if let end = state.end { return .failure(end.failure ?? NoHead()) }
                state.headReader = reader
                return nil
            }
            if let known { reader.resume(with: known) }
        }
    }

    /// All of the body, if it has come to its end by now.
    func whole() -> [UInt8]? {
        state.withLock { state in
            guard case .success = state.end else { return nil }
            defer { state.chunks.removeAll() }
            return state.chunks.reduce(into: []) { $0 += $1.readableBytesView }
        }
    }

    /// Waits for the next piece of the body; `nil` at its end. One reader at a time.
    func next() async throws -> ByteBuffer? {
        try await withCheckedThrowingContinuation { reader in
            let (known, taken) = state.withLock { state -> (Result<ByteBuffer?, any Error>?, EventLoopPromise<Void>?) in
                if let chunk = state.chunks.popFirst() {
                    state.waiting -= chunk.readableBytes
                    return (.success(chunk), state.waiting < Self.mostWaiting ? state.taken.take() : nil)
                }
                if let end = state.end { return (end.map { nil }, nil) }
                state.chunkReader = reader
                return (nil, nil)
            }
            taken?.succeed()
            if let known { reader.resume(with: known) }
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
