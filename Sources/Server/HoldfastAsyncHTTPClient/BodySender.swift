import AsyncHTTPClient
import NIOCore
import ResilientHTTP
import Synchronization

/// A sender for the body of a request, which writes the body chunk by chunk, at the speed at which AsyncHTTPClient (the engine) accepts
/// chunks.
///
/// The engine and the task may start in any order. The engine calls the closure of ``engineBody`` with a writer, and the task waits for
/// this writer in ``run()``. The engine then waits for a promise, which the sender completes after the whole body. Both the end of the body
/// and ``close()`` complete the promises and resume the waiting tasks. To do this exactly once, each of them first removes the promises and
/// the continuations from the state under the lock.
///
/// If the connection accepts no bytes, the engine does not complete the future of the written chunk, and drops it if the exchange ends.
/// The task therefore waits for a promise of the sender, which the end of the exchange completes too.
final class BodySender: Sendable {
    /// The progress of the exchange, guarded by a mutex.
    private struct State {
        /// The engine's writer; `nil` until the engine is ready for the body.
        var writer: HTTPClient.Body.StreamWriter?
        /// The promise for which the engine waits. The sender completes it after the whole body.
        var promise: EventLoopPromise<Void>?
        /// The task that waits for the writer.
        var starter: CheckedContinuation<HTTPClient.Body.StreamWriter?, Never>?
        /// The task that waits until the body was sent.
        var waiter: CheckedContinuation<Void, Never>?
        /// Whether the body was sent or the exchange has ended.
        var hasEnded = false
        /// The promise for which the task waits after it has written a chunk, until the engine accepts the next one.
        var acceptance: EventLoopPromise<Void>?
        /// Whether the server has refused the body.
        var isRefused = false
    }

    private let state = Mutex(State())
    private let loop: any EventLoop
    let body: RequestBody

    /// Creates the sender.
    /// - Parameters:
    ///   - body: The body.
    ///   - loop: The event loop of the exchange.
    init(_ body: RequestBody, on loop: any EventLoop) {
        (self.body, self.loop) = (body, loop)
    }

    /// Whether the body was sent or the exchange has ended.
    var hasEnded: Bool { state.withLock(\.hasEnded) }
    /// Whether the task waits until the engine accepts the next chunk.
    var isBlocked: Bool { state.withLock { $0.acceptance != nil } }

    /// The body in the engine's type. If the engine requests the body after ``close()``, the engine's promise fails immediately.
    var engineBody: HTTPClient.Body {
        .stream(contentLength: body.length) { [self] writer in
            let promise = loop.makePromise(of: Void.self)
            let (starter, hasEnded) = state.withLock { state in
                (state.writer, state.promise) = (writer, state.hasEnded ? nil : promise)
                return (state.starter.take(), state.hasEnded)
            }
            if hasEnded { promise.fail(HTTPClientError.cancelled) }
            starter?.resume(returning: writer)
            return promise.futureResult
        }
    }

    /// Waits for the engine and sends the body. The method returns when the body was sent, or when the exchange has ended. An error of the
    /// body ends the exchange.
    func run() async {
        let result: Result<Void, any Error>
        do {
            try await send()
            result = .success(())
        } catch {
            result = .failure(error)
        }
        end(result)
    }

    /// Writes the chunks. After each chunk, the method waits until the engine has accepted it, and then reports the progress.
    private func send() async throws {
        let writer = await withCheckedContinuation { starter in
            let (writer, isKnown) = state.withLock { state -> (HTTPClient.Body.StreamWriter?, Bool) in
                if state.hasEnded || state.writer != nil { return (state.writer, true) }
                state.starter = starter
                return (nil, false)
            }
            if isKnown { starter.resume(returning: writer) }
        }
        guard let writer else { return }
        let total = body.progress == nil ? nil : body.length
        let sent = Atomic<Int64>(0)
        try await body.write { [self] chunk in
            let buffer = ByteBuffer(bytes: chunk)
            try await loop.flatSubmit { self.write(buffer, to: writer) }.get()
            let completed = sent.add(Int64(chunk.count), ordering: .relaxed).newValue
            body.progress?(TransferProgress(completed: completed, total: total))
        }
    }

    /// Passes a chunk to the engine, unless the server has refused the body. Call this method on the event loop.
    /// - Returns: A future that succeeds when the engine accepts the next chunk, and fails when the exchange ends.
    private func write(_ chunk: ByteBuffer, to writer: HTTPClient.Body.StreamWriter) -> EventLoopFuture<Void> {
        let promise = loop.makePromise(of: Void.self)
        let (hasEnded, isRefused) = state.withLock { state in
            if !state.hasEnded { state.acceptance = promise }
            return (state.hasEnded, state.isRefused)
        }
        if hasEnded {
            promise.fail(HTTPClientError.cancelled)
        } else if !isRefused {
            writer.write(.byteBuffer(chunk)).whenComplete { result in
                self.state.withLock { $0.acceptance.take() }?.completeWith(result)
            }
        }
        return promise.futureResult
    }

    /// Passes no further chunks to the engine, because the server has refused the body. Call this method on the event loop.
    func refuse() { state.withLock { $0.isRefused = true } }

    /// Ends the exchange, and drops unsent bytes.
    func close() { end(.failure(HTTPClientError.cancelled)) }

    /// Completes the continuations and the promises. Only the first call has an effect.
    private func end(_ result: Result<Void, any Error>) {
        let (starter, waiter, promise, acceptance) = state.withLock { state in
            state.hasEnded = true
            return (state.starter.take(), state.waiter.take(), state.promise.take(), state.acceptance.take())
        }
        starter?.resume(returning: nil)
        waiter?.resume()
        promise?.completeWith(result)
        acceptance?.fail(HTTPClientError.cancelled)
    }

    /// Waits until the body was sent, or until the exchange has ended. Only one task may call this method.
    func ended() async {
        await withCheckedContinuation { waiter in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiter = waiter }
                return state.hasEnded
            }
            if hasEnded { waiter.resume() }
        }
    }
}
