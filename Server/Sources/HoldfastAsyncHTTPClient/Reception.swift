import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Synchronization

/// Takes what the engine receives for one request, and keeps one piece of it for its reader: the engine reads on when that is taken.
final class Reception: HTTPClientResponseDelegate {
    typealias Response = Void

    private struct State {
        var head: HTTPResponseHead?
        var chunk: (bytes: ByteBuffer, taken: EventLoopPromise<Void>)?
        var end: Result<Void, any Error>?
        var headReader: CheckedContinuation<HTTPResponseHead, any Error>?
        var chunkReader: CheckedContinuation<ByteBuffer?, any Error>?
    }

    /// The exchange ended without a head and without an error.
    struct NoHead: Error {}

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
        let taken = task.eventLoop.makePromise(of: Void.self)
        let (reader, isOver) = state.withLock { state in
            let reader = state.chunkReader.take()
            if reader == nil, state.end == nil { state.chunk = (buffer, taken) }
            return (reader, state.end != nil)
        }
        reader?.resume(returning: buffer)
        if reader != nil || isOver { taken.succeed() }
        return taken.futureResult
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) {}

    /// Notes that the exchange is over; what came before its end is still read.
    func end(_ result: Result<Void, any Error>) {
        let (headReader, chunkReader, taken) = state.withLock { state in
            guard state.end == nil else { return (nil, nil, nil) as Waiting }
            state.end = result
            return (state.headReader.take(), state.chunkReader.take(), state.chunk?.taken)
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

    /// Waits for the next piece of the body; `nil` at its end. One reader at a time.
    func next() async throws -> ByteBuffer? {
        try await withCheckedThrowingContinuation { reader in
            let (known, taken) = state.withLock { state -> (Result<ByteBuffer?, any Error>?, EventLoopPromise<Void>?) in
                if let chunk = state.chunk.take() { return (.success(chunk.bytes), state.end == nil ? chunk.taken : nil) }
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
