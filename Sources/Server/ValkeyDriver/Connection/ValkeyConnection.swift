import NIOCore

/// A pending command, and its caller.
struct PendingCommand: Sendable {
    /// The command in the wire format.
    let bytes: [UInt8]
    /// The time by which the reply must have arrived.
    let deadline: NIODeadline
    /// A closure that returns the result to the caller. The client calls the closure exactly once, on the event loop.
    let finish: @Sendable (Result<ValkeyReply, ValkeyError>) -> Void
}

/// One connection, which sends commands and assigns replies to commands by their order.
///
/// The protocol has no ids: the first reply belongs to the oldest command. If a reply misses the deadline of its command, the command
/// fails. Its place in the order remains, so the connection discards the late reply, and no later command gets it.
///
/// The connection ends if a reply is still missing ``shortestWait`` after its command was sent. So a server that doesn't reply is detected
/// soon. A command that was sent shortly before its deadline doesn't end the connection. The class is `@unchecked Sendable` because it is
/// only used on its event loop.
final class ValkeyConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer

    /// A command without a reply.
    private struct SentCommand {
        let command: PendingCommand
        /// The time by which the reply must have arrived. Otherwise, the connection ends.
        let end: NIODeadline
        /// Whether the command has failed because its deadline has passed. The connection discards its reply.
        var isExpired = false

        /// The time of the next action while the reply is missing.
        var next: NIODeadline { isExpired ? end : command.deadline }
    }

    /// Decodes the received bytes.
    private let reader = ReplyReader()
    /// The connection; `nil` before the handler is added.
    private var channel: (any Channel)?
    /// The commands without a reply, oldest first.
    private var inFlight = CircularBuffer<SentCommand>()
    /// The timer for the earliest ``SentCommand/next``. If the reply to that command has arrived already, the timer fires too early, and
    /// the connection sets a new timer.
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?
    /// Whether the connection has ended. All further commands fail.
    private var isEnded = false
    /// Reports that more commands can be sent.
    private let hasRoom: (ValkeyConnection) -> Void
    /// Reports the end of the connection, once.
    private let hasEnded: (ValkeyConnection, ValkeyError) -> Void

    /// The largest number of commands without a reply. A server that stalls and then continues executes at most this number of commands
    /// whose deadlines have passed.
    static let mostInFlight = 256
    /// The shortest time after which a missing reply ends the connection. If the deadline of the command is later, the connection waits
    /// until then.
    static let shortestWait = TimeAmount.milliseconds(10)

    /// Creates the handler of a channel.
    /// - Parameters:
    ///   - hasRoom: Called when replies have arrived, so that more commands can be sent.
    ///   - hasEnded: Called once, when the connection is lost or closed.
    init(hasRoom: @escaping (ValkeyConnection) -> Void, hasEnded: @escaping (ValkeyConnection, ValkeyError) -> Void) {
        (self.hasRoom, self.hasEnded) = (hasRoom, hasEnded)
    }

    /// The number of commands that can be sent now.
    var room: Int { isEnded ? 0 : Self.mostInFlight - inFlight.count }

    /// Sends commands in one write.
    func send(_ commands: some Collection<PendingCommand>) {
        guard let channel, !isEnded else {
            for command in commands { command.finish(.failure(.connectionLost)) }
            return
        }
        guard !commands.isEmpty else { return }
        let earliestEnd = channel.eventLoop.now + Self.shortestWait
        var buffer = channel.allocator.buffer(capacity: commands.reduce(0) { $0 + $1.bytes.count })
        for command in commands {
            buffer.writeBytes(command.bytes)
            inFlight.append(SentCommand(command: command, end: max(command.deadline, earliestEnd)))
        }
        channel.writeAndFlush(buffer, promise: nil)
        startTimer()
    }

    /// Closes the connection. Commands without a reply fail.
    /// - Parameters:
    ///   - error: The reason.
    ///   - others: The error of the commands without a reply; `nil` for `error`.
    func end(_ error: ValkeyError, others: ValkeyError? = nil) {
        guard !isEnded else { return }
        isEnded = true
        timer?.task.cancel()
        timer = nil
        channel?.close(promise: nil)
        let outstanding = inFlight
        inFlight = []
        hasEnded(self, error)
        for sent in outstanding where !sent.isExpired { sent.command.finish(.failure(others ?? error)) }
    }

    /// Starts the timer for the earliest action on a command without a reply. One timer serves many commands. The method sets a new timer
    /// only after the timer has fired, or if a new deadline is earlier.
    private func startTimer() {
        guard let channel, let earliest = inFlight.lazy.map(\.next).min() else { return }
        if let timer, timer.deadline <= earliest { return }
        timer?.task.cancel()
        let task = channel.eventLoop.scheduleTask(deadline: earliest) { [self] in
            timer = nil
            expire(at: channel.eventLoop.now)
        }
        timer = (earliest, task)
    }

    /// Fails the commands whose deadlines have passed. Ends the connection if a reply is missing for too long.
    ///
    /// If the pipeline is full, the method ends the connection at the first deadline. Otherwise, commands that wait for room could miss
    /// their own deadlines.
    private func expire(at now: NIODeadline) {
        let late = inFlight.filter { $0.next <= now }
        guard late.isEmpty || (room > 0 && late.allSatisfy { now < $0.end }) else { return end(.timedOut) }
        for index in inFlight.indices where inFlight[index].next <= now { inFlight[index].isExpired = true }
        startTimer()
        for sent in late { sent.command.finish(.failure(.timedOut)) }
    }
}

extension ValkeyConnection {
    /// Stores the channel. Commands can be sent from now on. If the connection has already ended, the method closes the channel.
    func handlerAdded(context: ChannelHandlerContext) {
        channel = context.channel
        // Until an address of the server has accepted the connection, there is no channel that `end` could close.
        if isEnded { context.close(promise: nil) }
    }

    /// Decodes replies and finishes their commands.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        do {
            try buffer.withUnsafeReadableBytes { (bytes: UnsafeRawBufferPointer) throws(ValkeyError) in try reader.feed(bytes) }
            while !isEnded, let reply = try reader.next() {
                guard let sent = inFlight.popFirst() else { throw ValkeyError.protocolViolation }
                complete(sent, with: reply)
            }
        } catch {
            end(.protocolViolation)
        }
    }

    /// Reports that more commands can be sent, once for each batch of replies.
    func channelReadComplete(context: ChannelHandlerContext) {
        if !isEnded { hasRoom(self) }
    }

    /// Ends the connection after the server has closed it.
    func channelInactive(context: ChannelHandlerContext) { end(.connectionLost) }

    /// Ends the connection after an error of the network.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(.connectionLost) }

    /// Finishes a command, unless it has failed at its deadline. If the reply is an error for which ``ValkeyError/endsConnection`` is
    /// `true`, the connection also ends.
    private func complete(_ sent: SentCommand, with reply: ValkeyReply) {
        let result: Result<ValkeyReply, ValkeyError> =
            if case .error(let text) = reply { .failure(ValkeyError(text: text)) } else { .success(reply) }
        if !sent.isExpired { sent.command.finish(result) }
        // The server may have executed the commands after this one.
        if case .failure(let error) = result, error.endsConnection { end(error, others: .connectionLost) }
    }
}
