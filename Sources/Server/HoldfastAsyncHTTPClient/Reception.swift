import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import ResilientHTTP
import Synchronization

/// A delegate that receives one response from AsyncHTTPClient (the engine) and stores it for the reader.
///
/// The engine pauses while at least 64 KiB are stored, and continues when the reader has taken enough bytes. When the head arrives, the
/// event loop first processes all bytes that arrived with the head, and then resumes the caller that waits for the head. At this time, the
/// body of a small response is already complete, so the response needs one switch between threads instead of three.
///
/// The event loop calls the methods of the delegate. The caller's task calls ``head(of:deadline:client:)`` and ``next()``. A lock protects
/// the state. A method removes a continuation or promise from the state under the lock, and completes it outside of the lock, so each one
/// is completed once.
final class Reception: HTTPClientResponseDelegate {
    /// The result of the engine's task, which is empty, because the reader takes the body in chunks.
    typealias Response = Void
    /// The caller that waits for the head.
    private typealias HeadReader = CheckedContinuation<HTTPResponseHead, any Error>
    /// The reader that waits for a chunk; `nil` is the end of the body.
    private typealias ChunkReader = CheckedContinuation<ByteBuffer?, any Error>

    /// The exchange, its stored bytes and its waiting callers.
    private struct State {
        /// The event loop of the exchange; `nil` while the exchange waits in the queue of its host.
        var place: Host.Place?
        /// The engine's task of the exchange; `nil` before its start and after its end.
        var task: HTTPClient.Task<Void>?
        /// Whether the exchange was canceled, possibly before it began.
        var isCancelled = false
        /// Whether the caller has received the response with the body.
        var hasReader = false
        /// The head; `nil` before it has arrived.
        var head: HTTPResponseHead?
        /// The chunks that the reader has not taken.
        var chunks = CircularBuffer<ByteBuffer>()
        /// The number of bytes in all chunks.
        var stored = 0
        /// The number of bytes that are missing in a short refusal, which arrived before the whole body of the request was sent; `nil` for
        /// any other response.
        var missing: Int?
        /// The promise for which the paused engine waits, until the number of stored bytes falls below the limit or the exchange ends.
        var taken: EventLoopPromise<Void>?
        /// The end of the exchange.
        var end: Result<Void, any Error>?
        /// The caller that waits for the head.
        var headReader: HeadReader?
        /// The reader that waits for a chunk.
        var chunkReader: ChunkReader?
        /// For a streamed response, the time by which the head of a success must have arrived.
        var headDeadline: NIODeadline?
        /// For a streamed response, the time at which the last byte was sent or received.
        var lastActivity = NIODeadline.distantPast
        /// The next check of a streamed exchange.
        var check: Scheduled<Void>?
        /// Whether a streamed exchange has taken too long. The engine then reports a cancellation, and this type reports a timeout instead.
        var isExpired = false
        /// Whether the response is a short refusal, and all its bytes have arrived.
        var isRefusal: Bool { missing.map { $0 <= 0 } ?? false }
    }

    /// The time limits of a streamed exchange. The engine can't enforce these limits, because its own deadline includes the body.
    struct Limits {
        /// The time by which the head of a success must have arrived. Any other response must be complete by this time.
        var headDeadline: NIODeadline
        /// The maximum time without a byte in either direction.
        var idle: TimeAmount
    }

    /// The error of an exchange that ended without a head and without an error of the engine.
    struct NoHead: Error {}

    /// The number of stored bytes at which the engine pauses: 64 KiB. The engine may still deliver a chunk that it has already read.
    static let mostStored = 65_536
    private let state: Mutex<State>
    /// The server, which chooses the event loop of the exchange.
    private let host: Host
    /// The time limits of a streamed exchange; `nil` for any other exchange.
    private let limits: Limits?
    /// Sends the body of the request; `nil` if the body is not streamed.
    let sender: BodySender?
    /// Whether the response can have a body, because the request is no HEAD.
    private let hasBody: Bool

    /// Creates the delegate of an exchange.
    /// - Parameters:
    ///   - host: The server.
    ///   - method: The method of the request.
    ///   - body: The body of the request; `nil` if it is not streamed.
    ///   - limits: The time limits of a streamed exchange; `nil` if the engine enforces the deadline.
    init(_ host: Host, method: HTTPMethod = .GET, sending body: RequestBody? = nil, limits: Limits? = nil) {
        hasBody = method != .HEAD
        (self.host, self.limits) = (host, limits)
        // The sender needs the event loop before the start, so an exchange with a sender doesn't wait in the queue of the host.
        let place = body.map { _ in host.enterWithoutWaiting() }
        // The head can arrive before the starting thread continues. The limit must therefore exist before the start.
        state = Mutex(State(place: place, headDeadline: limits?.headDeadline))
        sender = if let body, let place { BodySender(body, on: place.member.loop) } else { nil }
    }

    /// Sends a request and returns the head of its response. Call this method once.
    ///
    /// The exchange may first wait for a connection in the queue of its host, at most until the deadline.
    /// - Parameters:
    ///   - request: The request.
    ///   - deadline: The end of the whole exchange; `nil` if ``Limits`` apply.
    ///   - client: The engine.
    /// - Throws: The engine's error, `CancellationError`, or ``NoHead``.
    func head(of request: HTTPClient.Request, deadline: NIODeadline?, client: HTTPClient) async throws -> HTTPResponseHead {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                let place = state.withLock { state in
                    state.headReader = reader
                    return state.place
                }
                if let place { return start(request, on: place, deadline: deadline, client: client) }
                let lastStart = deadline ?? limits.map { min($0.headDeadline, .now() + $0.idle) } ?? .distantFuture
                host.enter(ObjectIdentifier(self), until: lastStart) { entry in
                    switch entry {
                    case .success(let place):
                        self.state.withLock { $0.place = place }
                        self.start(request, on: place, deadline: deadline, client: client)
                    case .failure(let error): self.end(.failure(error))
                    }
                }
                // A cancellation before the entry found no exchange in the queue.
                if state.withLock(\.isCancelled) { cancel() }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Starts the exchange.
    ///
    /// If the event loop is idle, the loop itself starts the exchange, because a start on this thread would wake the loop several times. If
    /// the loop is busy, it is already awake, so this thread starts the exchange.
    private func start(_ request: HTTPClient.Request, on place: Host.Place, deadline: NIODeadline?, client: HTTPClient) {
        if place.wasIdle {
            place.member.loop.execute { self.execute(request, on: place.member.loop, deadline: deadline, client: client) }
        } else {
            execute(request, on: place.member.loop, deadline: deadline, client: client)
        }
    }

    /// Passes the exchange to the engine if it was not canceled. The method checks for a cancellation before and after this.
    private func execute(_ request: HTTPClient.Request, on loop: any EventLoop, deadline: NIODeadline?, client: HTTPClient) {
        guard !state.withLock(\.isCancelled) else { return end(.failure(CancellationError())) }
        if limits != nil { state.withLock { $0.lastActivity = .now() } }
        if let sender, let deadline { endBlocked(sender, at: deadline, on: loop) }
        let task = client.execute(request: request, delegate: self, eventLoop: .delegate(on: loop), deadline: deadline)
        task.futureResult.whenComplete { self.end($0) }
        if let limits { checkLimits(limits, on: loop) }
        let isCancelled = state.withLock { state in
            if state.end == nil { state.task = task }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    /// Ends a blocked sender at the deadline, just before the engine ends the exchange. The loop runs tasks with equal deadlines in the
    /// order in which they were scheduled, so call this method before the engine schedules its deadline.
    private func endBlocked(_ sender: BodySender, at deadline: NIODeadline, on loop: any EventLoop) {
        let check = loop.scheduleTask(deadline: deadline) {
            guard sender.isBlocked else { return }
            self.state.withLock { $0.isExpired = true }
            sender.close()
        }
        state.withLock { $0.check = check }
    }

    /// Cancels a streamed exchange if one of its time limits has passed. Otherwise, the method schedules the next check for the earliest
    /// time at which a limit can pass. Arriving bytes therefore don't reschedule a timer. The time in which the reader takes no bytes
    /// doesn't count for the idle timeout.
    private func checkLimits(_ limits: Limits, on loop: any EventLoop) {
        let now = NIODeadline.now()
        let isExpired = state.withLock { state -> Bool in
            guard state.end == nil, !state.isCancelled else { return false }
            let idleEnd = state.stored > 0 && state.hasReader ? now + limits.idle : state.lastActivity + limits.idle
            let expiry = min(state.headDeadline ?? .distantFuture, idleEnd)
            guard expiry > now else {
                state.isExpired = true
                return true
            }
            state.check = loop.scheduleTask(deadline: expiry) { self.checkLimits(limits, on: loop) }
            return false
        }
        if isExpired { cancel() }
    }

    /// Records that the caller has received the response. After this, the time in which the caller takes no bytes doesn't count for the
    /// idle timeout.
    func handOut() {
        if limits != nil { state.withLock { $0.hasReader = true } }
    }

    /// Whether a short refusal is incomplete, and the request's body was not sent completely. The sender ends after the last byte of the
    /// refusal, because its end also ends the exchange.
    var isReceivingRefusal: Bool { state.withLock { $0.end == nil && ($0.missing ?? 0) > 0 } }

    /// Records that the engine has sent bytes of the request, for the idle timeout.
    func didSendRequestPart(task: HTTPClient.Task<Void>, _ part: IOData) {
        if limits != nil { state.withLock { $0.lastActivity = .now() } }
    }

    /// Cancels the exchange. If the exchange has not begun, it will not begin.
    func cancel() {
        let (task, mayWait) = state.withLock { state in
            state.isCancelled = true
            return (state.task, state.place == nil && state.end == nil)
        }
        // A blocked sender must end before the exchange, because the engine drops the promise of a blocked chunk.
        sender?.close()
        if let task { return task.cancel() }
        if mayWait, host.withdraw(ObjectIdentifier(self)) { end(.failure(CancellationError())) }
    }

    /// Stores the head. The event loop resumes the caller that waits for the head after it has processed all bytes that arrived with the
    /// head.
    ///
    /// After the head of a refusal, the sender passes no further chunks to the engine. A blocked sender must end before the exchange,
    /// because the engine drops the promise of a blocked chunk. If the response is a short refusal, the sender ends after its last byte.
    /// After any other head of a refusal, a blocked sender ends now. This also ends the exchange, so the body of the response is lost.
    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        host.note(isHTTP1: head.version.major < 2)
        let refused = head.status.code >= 300 && sender?.hasEnded == false ? sender : nil
        let missing = refused == nil ? nil : hasBody ? head.lengthOfShortRefusal : 0
        refused?.refuse()
        let blocked = (missing ?? 0) == 0 && refused?.isBlocked == true ? refused : nil
        let ended = blocked.map { _ in task.eventLoop.makePromise(of: Void.self) }
        state.withLock { state in
            state.head = head
            state.missing = missing
            guard limits != nil else { return }
            state.lastActivity = .now()
            if (200..<300).contains(head.status.code) { state.headDeadline = nil }
        }
        task.eventLoop.execute {
            blocked?.close()
            self.resumeHeadReader()
            ended?.succeed()
        }
        return ended?.futureResult ?? task.eventLoop.makeSucceededVoidFuture()
    }

    /// Resumes the caller that waits for the head.
    private func resumeHeadReader() {
        let (reader, head) = state.withLock { ($0.headReader.take(), $0.head) }
        if let head { reader?.resume(returning: head) }
    }

    /// Passes a chunk to the waiting reader, or stores it. After the end of the exchange, the method drops chunks.
    /// - Returns: A future that succeeds when the engine should continue reading.
    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        let (reader, taken, isRefusal) = state.withLock { state -> (ChunkReader?, EventLoopPromise<Void>?, Bool) in
            if limits != nil { state.lastActivity = .now() }
            state.missing = state.missing.map { $0 - buffer.readableBytes }
            let isRefusal = state.isRefusal
            if let reader = state.chunkReader.take() { return (reader, nil, isRefusal) }
            guard state.end == nil else { return (nil, nil, false) }
            state.chunks.append(buffer)
            state.stored += buffer.readableBytes
            if state.stored >= Self.mostStored || isRefusal { state.taken = task.eventLoop.makePromise() }
            return (nil, state.taken, isRefusal)
        }
        // The engine must not complete the exchange before the sender has ended.
        if isRefusal { task.eventLoop.execute { self.endRefusal() } }
        reader?.resume(returning: buffer)
        return taken?.futureResult ?? task.eventLoop.makeSucceededVoidFuture()
    }

    /// Ends the sender after the last byte of a refusal, which ends the exchange. If the whole body of the request was sent meanwhile, the
    /// engine completes the exchange itself.
    private func endRefusal() {
        sender?.close()
        state.withLock { $0.taken.take() }?.succeed()
    }

    /// Does nothing, because the task's future reports the end of the exchange.
    func didFinishRequest(task: HTTPClient.Task<Void>) {}

    /// Records the end of the exchange. The reader still gets the chunks that arrived before the end. Only the first call has an effect.
    private func end(_ outcome: Result<Void, any Error>) {
        var result = outcome
        let waiting = state.withLock { state -> Waiting? in
            guard state.end == nil else { return nil }
            // The end of the sender ended the exchange.
            if state.isRefusal { result = .success(()) }
            // The engine reports the expiry as a cancellation.
            if state.isExpired, case .failure = result { result = .failure(HTTPClientError.deadlineExceeded) }
            state.end = result
            state.task = nil
            state.check?.cancel()
            return (state.headReader.take(), state.head, state.chunkReader.take(), state.taken.take(), state.place)
        }
        guard let (headReader, head, chunkReader, taken, place) = waiting else { return }
        if head == nil, let error = result.failure, TransportError.isAboutConnections(error) { host.fail(error) }
        if let place { host.leave(place) }
        sender?.close()
        // The engine no longer waits for the promise, but NIO requires that each promise is completed.
        taken?.succeed()
        if let head { headReader?.resume(returning: head) } else { headReader?.resume(throwing: result.failure ?? NoHead()) }
        if let error = result.failure { chunkReader?.resume(throwing: error) } else { chunkReader?.resume(returning: nil) }
    }

    private typealias Waiting = (HeadReader?, HTTPResponseHead?, ChunkReader?, EventLoopPromise<Void>?, Host.Place?)

    /// Removes and returns the complete body if the exchange has ended successfully.
    /// - Returns: `nil` if the exchange is still in progress or has failed. The caller must then read the body with ``next()``.
    func whole() -> [UInt8]? {
        state.withLock { state in
            guard case .success = state.end else { return nil }
            defer { state.chunks.removeAll() }
            if state.chunks.count <= 1 { return state.chunks.first.map { [UInt8](buffer: $0) } ?? [] }
            return state.chunks.reduce(into: []) { $0 += $1.readableBytesView }
        }
    }

    /// Returns the next chunk of the body, or `nil` at its end. Only one task may read. If the task is canceled, the exchange ends.
    /// - Throws: The engine's error, after all chunks that arrived before the error.
    func next() async throws -> [UInt8]? {
        try await withTaskCancellationHandler {
            try await nextChunk()
        } onCancel: {
            cancel()
        }.map { [UInt8](buffer: $0) }
    }

    /// Returns a stored chunk, or waits for a chunk. If the number of stored bytes falls below the limit, the engine continues reading.
    private func nextChunk() async throws -> ByteBuffer? {
        try await withCheckedThrowingContinuation { reader in
            let (known, taken) = state.withLock { state -> (Result<ByteBuffer?, any Error>?, EventLoopPromise<Void>?) in
                if let chunk = state.chunks.popFirst() {
                    state.stored -= chunk.readableBytes
                    if limits != nil { state.lastActivity = .now() }
                    return (.success(chunk), state.stored < Self.mostStored ? state.taken.take() : nil)
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

/// The reader of one body. If it is released before the end of the body, it closes the request, so that an unread response doesn't block a
/// connection.
final class BodyReader: Sendable {
    private let reception: Reception
    /// The engine, which must not shut down while the body is read.
    private let engine: AsyncHTTPClientTransport.Engine

    /// Creates the reader of a response.
    init(_ reception: Reception, engine: AsyncHTTPClientTransport.Engine) {
        self.reception = reception
        self.engine = engine
    }

    deinit {
        reception.cancel()
    }

    /// Returns the next chunk of the body, or `nil` at its end.
    /// - Throws: `TransportError`.
    func next() async throws -> [UInt8]? {
        do {
            return try await reception.next()
        } catch {
            throw TransportError(asyncHTTPClient: error, isReceiving: true)
        }
    }
}

extension HTTPResponseHead {
    /// The length of the body of an error response whose bytes the transport stores without a pause; `nil` for any other response, and if
    /// the head doesn't contain the length of the body after decompression.
    fileprivate var lengthOfShortRefusal: Int? {
        guard status.code >= 400, !headers.contains(name: "Transfer-Encoding"), !headers.contains(name: "Content-Encoding"),
            let length = headers.first(name: "Content-Length").flatMap({ Int($0) }), (0..<Reception.mostStored).contains(length)
        else { return nil }
        return length
    }
}

extension Result {
    /// The error; `nil` for a success.
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
