import NIOCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Closes a connection whose client lets it wait for too long: for the head of a request, for the rest of a body, for the next
/// request, or for its responses to be read.
///
/// Stands first in the pipeline, below TLS: it sees all bytes, and what it closes is closed at once. ``RequestGuard`` reports
/// requests and responses. One timer per connection compares its times, a few times a minute; requests do not move it.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// What the server waits for.
    private enum Awaited {
        /// The rest of a head, since its first byte was due.
        case head(since: NIODeadline)
        case request(since: NIODeadline)
        case body
        /// Its own route.
        case response
    }

    /// The time in which a client closes its half of a connection that the server ended.
    private static let lingerTime = TimeAmount.seconds(1)

    private let connections: Connections
    private var id: Connections.Table.ID?
    private var activity: ConnectionActivity?
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?

    private var awaited = Awaited.response
    /// Requests whose head has arrived and whose response is not complete.
    private(set) var outstanding = 0
    private var isReadingBody = false
    private var hasResponded = false
    private var isWritable = true
    private var lastRead = NIODeadline.uptimeNanoseconds(0)
    /// When the rest of a connection that the server ended is no longer waited for.
    private var lingerEnd: NIODeadline?
    private var isEnding = false

    private var written = 0
    private var allowance: WriteAllowance
    /// Whether the connection ends with the response that is being worked on.
    private(set) var endsAfterResponse = false

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
        if case .request = awaited { awaited = .head(since: lastRead) }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        update(at: context.eventLoop.now)
        context.fireChannelWritabilityChanged()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else {
            context.close(mode: mode, promise: promise)
            return
        }
        isEnding = true
        // If the client has ended its half already, this closes the connection, and with it what has not been written.
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
    /// The head of a request has arrived.
    func headArrived() {
        outstanding += 1
        isReadingBody = true
        awaited = .body
        update(at: lastRead)
    }

    /// A request has arrived completely.
    func requestArrived() {
        isReadingBody = false
        awaited = outstanding > 0 ? .response : .request(since: lastRead)
        update(at: lastRead)
    }

    /// A response has been written completely.
    func responseWritten() {
        outstanding = max(0, outstanding - 1)
        hasResponded = true
        guard let now = context?.eventLoop.now else { return }
        if outstanding == 0, !isReadingBody { awaited = .request(since: now) }
        update(at: now)
    }

    /// Closes the connection: its place is needed. If a request is being worked on, its response is still written.
    func evict(_ end: ConnectionEnd) {
        guard let context, context.channel.isActive else { return }
        if activity?.current.phase == .working {
            connections.count(end)
            endsAfterResponse = true
        } else {
            abort(end)
        }
    }

    /// Closes the connection at once, also within a TLS handshake.
    func abort(_ end: ConnectionEnd) {
        guard let context, context.channel.isActive else { return }
        connections.count(end)
        if bufferedBytes(context) > 0, let socket = context.channel as? any SocketOptionProvider {
            // Reset: else the kernel goes on trying to send what this client does not read.
            _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        }
        context.close(promise: nil)
    }

    /// What the client has not read, as far as the kernel does not hold it.
    private func bufferedBytes(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    private func update(at now: NIODeadline) {
        let phase: ConnectionActivity.Phase
        if outstanding == 0 {
            phase = hasResponded ? .idle : .fresh
        } else if isReadingBody, outstanding == 1 {
            phase = hasResponded ? .waiting : .fresh
        } else {
            phase = isWritable ? .working : .waiting
        }
        guard let activity, activity.current.phase != phase || phase == .idle else { return }
        activity.set(phase, since: now)
    }

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

    private func stop() {
        timer?.cancel()
        timer = nil
        if let id { connections.remove(id) }
        id = nil
    }

    private func schedule(_ context: ChannelHandlerContext, in time: TimeAmount) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: max(.milliseconds(1), time)) { [self] in compare(context) }
    }

    /// Compares all times, and closes the connection or comes back.
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

    /// When the connection is closed if nothing happens, and the reason; `nil` if the server itself has to go on.
    private func deadline(_ context: ChannelHandlerContext, at now: NIODeadline) -> (NIODeadline?, ConnectionEnd?) {
        let buffered = bufferedBytes(context)
        if buffered > 0 {
            // The idle time begins when all has been read.
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
        case .body: return (lastRead + idleTime, .body)
        case .response: return (nil, nil)
        }
    }
}

/// The time that a client has left to read what was written to it.
///
/// A client starts with `time`. Each `rate` bytes that it reads add a second, up to `time` again. So a client that reads nothing
/// is out of time after `time`, and one that reads at `rate` or faster never is.
struct WriteAllowance {
    private let time: TimeAmount
    private let rate: Int
    private var end: NIODeadline?
    private var drained = 0

    init(time: Duration, rate: Int) {
        self.time = TimeAmount(time)
        self.rate = rate
    }

    /// All that was written has been read: nothing is measured until more is written.
    mutating func reset() { end = nil }

    /// Compares what has been read so far with the last call.
    /// - Parameter total: All bytes of the connection that have been read so far.
    /// - Returns: When the time runs out if nothing more is read. It has run out if that is not after `now`.
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
