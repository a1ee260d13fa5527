import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Closes a connection if its client is too slow. The guard limits the time in which the client sends the head of a request, the pauses
/// between two parts of a body, the pauses between two requests, and the time in which the client reads responses. The time in which the
/// server itself doesn't read the body is not a pause of the client.
///
/// The guard is the first handler of the pipeline, before TLS, so it sees all bytes and can close the connection immediately.
/// ``RequestGuard`` reports requests and responses to the guard.
///
/// Each connection has one timer that checks all deadlines every few seconds. A request doesn't reschedule the timer, because rescheduling
/// would take time for each request. The interval is at most half of the shortest time in ``ConnectionLimits``.
///
/// Use the members only on the event loop of the connection. Other threads call the guard through ``Connections/Handle``.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The event that the connection waits for.
    private enum Awaited {
        /// The rest of a head. The time begins with the first byte of the head. For the first request, the time begins when the connection
        /// opens.
        case head(since: NIODeadline)
        case request(since: NIODeadline)
        /// The rest of a body. While the server doesn't read, the client has no deadline.
        case body
        /// The response that the server is processing. The client has no deadline in this state.
        case response
    }

    /// The time within which the client must close its half of a connection, after the server has closed the other half.
    private static let lingerTime = TimeAmount.seconds(1)

    private let connections: Connections
    private var id: Connections.Table.ID?
    private var activity: ConnectionActivity?
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?

    /// The event that the connection waits for. The event determines the deadline.
    private var awaited = Awaited.response
    /// The number of requests whose head has arrived, and whose response is not complete yet.
    private(set) var outstanding = 0
    private var isReadingBody = false
    private var hasResponded = false
    private var isWritable = true
    /// Whether the socket may not have accepted all bytes of the responses yet. The value is exact after each call of
    /// ``responsesFlushed()``.
    private var isDraining = false
    private var lastRead = NIODeadline.uptimeNanoseconds(0)
    /// The time since which the server waits for bytes; `nil` if it doesn't read. If a route reads a body more slowly than the client sends
    /// it, the pipeline requests no further bytes until the route has read the earlier ones.
    private var readSince: NIODeadline?
    /// The time until which the guard waits for the client to close its half, after the server has closed the other half.
    private var lingerEnd: NIODeadline?
    private var isEnding = false

    /// The number of bytes that were written so far, including bytes that the client has not read.
    private var written = 0
    /// The time that the client has left to read.
    private var allowance: WriteAllowance
    /// Whether the server closes the connection after the response that it is sending.
    private(set) var endsAfterResponse = false

    /// Creates the guard of a connection. When the connection becomes active, the guard requests a place for it in `connections`.
    init(connections: Connections) {
        self.connections = connections
        allowance = WriteAllowance(time: connections.limits.writeTime, rate: connections.limits.minimumWriteRate)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { start(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        start(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastRead = context.eventLoop.now
        readSince = nil
        if case .request = awaited { awaited = .head(since: lastRead) }
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        if readSince == nil { readSince = context.eventLoop.now }
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        if !isWritable { isDraining = true }
        update(at: context.eventLoop.now)
        context.fireChannelWritabilityChanged()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else {
            context.close(mode: mode, promise: promise)
            return
        }
        isEnding = true
        // Flush unwritten bytes first. If the client has already closed its half, `close` closes the whole connection and discards these
        // bytes.
        let flushed = context.eventLoop.makePromise(of: Void.self)
        flushed.futureResult.assumeIsolated().whenComplete { [self] _ in
            context.close(mode: .output, promise: promise)
            lingerEnd = context.eventLoop.now + Self.lingerTime
            schedule(context, in: Self.lingerTime)
        }
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer())), promise: flushed)
    }
}

extension ConnectionGuard {
    /// Records that the head of a request has arrived. From now on, the guard waits for the body.
    func headArrived() {
        outstanding += 1
        isReadingBody = true
        awaited = .body
        update(at: lastRead)
    }

    /// Records that a request has arrived completely. The server must respond next, so the client has no deadline.
    func requestArrived() {
        isReadingBody = false
        awaited = outstanding > 0 ? .response : .request(since: lastRead)
        update(at: lastRead)
    }

    /// Records that a response has been written completely. If no request is in progress, the idle time begins when the socket has accepted
    /// the response.
    func responseWritten() {
        outstanding = max(0, outstanding - 1)
        hasResponded = true
        // The response has not been flushed yet.
        isDraining = true
        guard let now = context?.eventLoop.now else { return }
        if outstanding == 0, !isReadingBody { awaited = .request(since: now) }
        update(at: now)
    }

    /// Records that the responses were flushed. If the server has responded to all requests, the idle time begins as soon as the socket has
    /// accepted all bytes.
    ///
    /// ``RequestGuard`` calls this method, because not every flush reaches this handler: TLS stops a flush that follows no bytes.
    func responsesFlushed() {
        guard let context, outstanding == 0, isDraining, context.channel.isActive else { return }
        guard bufferedBytes(context) > 0 else { return drained(at: context.eventLoop.now) }
        // The socket accepts the rest when the client has read more. An empty write after the rest reports when this has happened.
        let accepted = context.eventLoop.makePromise(of: Void.self)
        accepted.futureResult.assumeIsolated().whenComplete { [self] _ in
            guard let now = self.context?.eventLoop.now, outstanding == 0, isDraining, !hasUnreadBytes else { return }
            drained(at: now)
        }
        context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer())), promise: accepted)
    }

    /// Records that the socket has accepted all responses. The idle time begins.
    private func drained(at now: NIODeadline) {
        isDraining = false
        if case .request = awaited { awaited = .request(since: now) }
        update(at: now)
    }

    /// Closes the connection because another connection needs its place. If the server is processing a request, it first writes the
    /// response. The server is also processing a request if it doesn't read the rest of the request's body at the moment, unless it waits
    /// for the client to read earlier responses.
    func evict(_ end: ConnectionEnd) {
        guard let context, context.channel.isActive else { return }
        if activity?.current.phase == .working || outstanding > 0 && isReadingBody && readSince == nil && isWritable {
            connections.count(end)
            endsAfterResponse = true
        } else {
            abort(end)
        }
    }

    /// Closes the connection immediately, even during a TLS handshake. The server discards written bytes that the client has not read.
    func abort(_ end: ConnectionEnd) {
        guard let context, context.channel.isActive else { return }
        connections.count(end)
        if bufferedBytes(context) > 0, let socket = context.channel as? any SocketOptionProvider {
            // With this option, the connection closes with a reset. Otherwise, the kernel would keep trying to send bytes that the client
            // doesn't read.
            _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        }
        context.close(promise: nil)
    }

    /// Whether there are written bytes that the client has not read.
    var hasUnreadBytes: Bool { context.map { bufferedBytes($0) > 0 } ?? false }

    /// Returns the number of written bytes that the client has not read. The number doesn't include bytes in the kernel's buffer.
    private func bufferedBytes(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// Reports the current phase of the connection to the connection table, which uses it to choose the connections that it closes.
    private func update(at now: NIODeadline) {
        let phase: ConnectionActivity.Phase
        if outstanding == 0 {
            phase = isDraining ? .waiting : hasResponded ? .idle : .fresh
        } else if isReadingBody, outstanding == 1 {
            phase = hasResponded ? .waiting : .fresh
        } else {
            phase = isWritable ? .working : .waiting
        }
        guard let activity, activity.current.phase != phase || phase == .idle else { return }
        activity.set(phase, since: now)
    }

    /// Requests a place in the connection table. If there is no place, closes the connection.
    private func start(_ context: ChannelHandlerContext) {
        guard activity == nil else { return }
        let now = context.eventLoop.now
        let activity = ConnectionActivity(.fresh, since: now)
        let handle = Connections.Handle(
            eventLoop: context.eventLoop,
            connection: NIOLoopBound(self, eventLoop: context.eventLoop)
        )
        self.activity = activity
        guard let id = connections.open(from: context.remoteAddress.flatMap(IPAddress.init), activity, handle, at: now) else {
            context.close(promise: nil)
            return
        }
        self.id = id
        awaited = .head(since: now)
        lastRead = now
        schedule(context, in: connections.limits.cadence)
    }

    /// Frees the place of a closed connection.
    private func stop() {
        timer?.cancel()
        timer = nil
        if let id { connections.remove(id) }
        id = nil
    }

    /// Schedules the next check of the deadlines.
    private func schedule(_ context: ChannelHandlerContext, in time: TimeAmount) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: max(.milliseconds(1), time)) { [self] in compare(context) }
    }

    /// Checks all deadlines. Closes the connection, or schedules the next check.
    private func compare(_ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        let now = context.eventLoop.now
        let (deadline, end) = deadline(context, at: now)
        if let deadline, deadline <= now {
            if let end { abort(end) } else { context.close(promise: nil) }
            return
        }
        schedule(context, in: min(connections.limits.cadence, deadline.map { $0 - now } ?? connections.limits.cadence))
    }

    /// Returns the time at which the connection closes if nothing else happens, and the reason. The time is `nil` while the server is
    /// processing a request, or doesn't read the rest of its body.
    private func deadline(_ context: ChannelHandlerContext, at now: NIODeadline) -> (NIODeadline?, ConnectionEnd?) {
        let buffered = bufferedBytes(context)
        if isDraining != (buffered > 0) {
            // A connection is not idle while its client still reads the last response.
            isDraining = buffered > 0
            update(at: now)
        }
        if buffered > 0 {
            // The idle time begins only when the client has read everything.
            if case .request = awaited { awaited = .request(since: now) }
            return (allowance.advance(total: written - buffered, at: now), .write)
        }
        allowance.reset()
        if isEnding { return (lingerEnd, nil) }
        let limits = connections.limits
        let idleTime = TimeAmount(connections.isCrowded ? limits.crowdedIdleTime : limits.idleTime)
        switch awaited {
        case .head(let start): return (start + TimeAmount(limits.headTime), .head)
        case .request(let start): return (start + idleTime, .idle)
        case .body: return (readSince.map { $0 + idleTime }, .body)
        case .response: return (nil, nil)
        }
    }
}

/// The time that a client has left to read its responses.
///
/// A client starts with `time`. For each `rate` bytes that the client reads, it gets one more second, but never more than `time` in total.
/// For example, the time is 30 s and the rate is 2,048 bytes per second. A client that reads nothing then runs out of time after 30 s. A
/// client that reads at least 2,048 bytes per second never runs out of time.
struct WriteAllowance {
    private let time: TimeAmount
    private let rate: Int
    private var end: NIODeadline?
    private var drained = 0

    /// Creates an allowance.
    /// - Parameters:
    ///   - time: The time with which a client starts, and which the allowance never exceeds.
    ///   - rate: The rate in bytes per second. A client that reads at this rate or faster never runs out of time.
    init(time: Duration, rate: Int) {
        self.time = TimeAmount(time)
        self.rate = rate
    }

    /// Ends the measurement, because the client has read everything. The next written byte starts a new allowance.
    mutating func reset() { end = nil }

    /// Extends the allowance by the time for the bytes that the client has read since the last call. The first call starts the allowance.
    /// - Parameter total: The number of bytes that the client has read so far on this connection.
    /// - Returns: The time at which the allowance ends if the client reads nothing more. If this time is `now` or earlier, the allowance
    ///   has ended.
    mutating func advance(total: Int, at now: NIODeadline) -> NIODeadline {
        defer { drained = total }
        guard let end else {
            self.end = now + time
            return now + time
        }
        let seconds = Double(max(0, total - drained)) / Double(rate)
        let gained = TimeAmount.nanoseconds(Int64(min(seconds * 1e9, Double(time.nanoseconds))))
        let next = min(end + gained, now + time)
        self.end = next
        return next
    }
}
