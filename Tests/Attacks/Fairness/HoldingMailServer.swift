import NIOCore
import NIOPosix
import Synchronization

/// A mail server that accepts emails, or receives them without responding.
final class HoldingMailServer: Sendable {
    private struct State {
        var isHolding = false
        var inHand = 0
        var taken: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let channel = Mutex<(any Channel)?>(nil)

    private init() {}

    /// Starts a server on a free port of the loopback.
    static func start() async throws -> HoldingMailServer {
        let server = HoldingMailServer()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Conversation(server)) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        server.channel.withLock { $0 = channel }
        return server
    }

    /// The port that the server listens on.
    var port: Int { channel.withLock { $0?.localAddress?.port ?? 0 } }
    /// The number of emails without a response.
    var inHand: Int { state.withLock { $0.inHand } }

    /// Returns the number of accepted emails to an address.
    func count(_ recipient: String) -> Int { state.withLock { $0.taken[recipient, default: 0] } }

    /// Sets whether later emails get no response. Those that have none so far are never accepted.
    func holds(_ isHolding: Bool) { state.withLock { $0 = State(isHolding: isHolding, inHand: 0, taken: $0.taken) } }

    func stop() { channel.withLock { $0?.close(promise: nil) } }

    /// - Returns: Whether the server responds to it.
    fileprivate func take(_ recipient: String) -> Bool {
        state.withLock { state in
            if state.isHolding { state.inHand += 1 } else { state.taken[recipient, default: 0] += 1 }
            return !state.isHolding
        }
    }
}

/// One connection, with the part of RFC 5321 that a client needs.
private final class Conversation: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: HoldingMailServer
    private var unread = ""
    private var recipient = ""
    private var isData = false

    init(_ server: HoldingMailServer) {
        self.server = server
    }

    func channelActive(context: ChannelHandlerContext) { respond("220 ready", context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unread += String(buffer: unwrapInboundIn(data))
        while let end = unread.firstIndex(of: "\r\n") {
            let line = String(unread[..<end])
            unread = String(unread[unread.index(after: end)...])
            read(line, context)
        }
    }

    private func read(_ line: String, _ context: ChannelHandlerContext) {
        guard !isData else {
            if line == "." {
                isData = false
                if server.take(recipient) { respond("250 taken", context) }
            }
            return
        }
        switch line.prefix(4).uppercased() {
        case "DATA":
            isData = true
            respond("354 go on", context)
        case "RCPT":
            recipient = String(line.split(separator: "<").last?.prefix { $0 != ">" } ?? "")
            respond("250 ok", context)
        case "QUIT": respond("221 bye", context)
        default: respond("250 ok", context)
        }
    }

    private func respond(_ text: String, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text + "\r\n")), promise: nil)
    }
}
