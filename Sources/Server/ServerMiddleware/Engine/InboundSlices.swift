import NIOCore

/// Passes the received bytes to the decoder in slices. The handler passes the next slice when the engine (Hummingbird) has taken all
/// requests of the previous slice.
///
/// The decoder parses all requests in the bytes that it gets. A client can send many small requests at once: 64 KB contain more than 2,000
/// requests. Without slices, the decoded heads of these requests would use too much memory. With slices, this handler usually stores the
/// bytes of only one read. Further bytes stay in the kernel, and TCP flow control stops the client.
final class InboundSlices: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The size of a slice. A slice is larger than the head of a usual request.
    static let size = 2_048
    /// The largest number of pending bytes. More bytes than one read returns can be pending, because NIO reads everything when a client
    /// closes its half of the connection.
    static let limit = 1_048_576

    /// The bytes that have not been passed to the decoder.
    private var rest = ByteBuffer()
    /// Whether the handler is passing slices. If `true`, a nested call of `read` only requests the next slice.
    private var isFeeding = false
    private var isReadWanted = false
    private var hasInputClosed = false
    private let onOverflow: () -> Void

    /// Creates the handler of a connection.
    /// - Parameter onOverflow: Closes the connection if more than ``limit`` bytes are pending.
    init(onOverflow: @escaping () -> Void) {
        self.onOverflow = onOverflow
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if rest.readableBytes > 0 {
            rest.writeBuffer(&bytes)
            if rest.readableBytes > Self.limit { onOverflow() }
        } else if bytes.readableBytes <= Self.size {
            context.fireChannelRead(data)
        } else {
            rest = bytes
            feed(context)
        }
    }

    /// Passes the next slice. If there is no slice, reads from the connection.
    func read(context: ChannelHandlerContext) {
        guard !isFeeding else {
            isReadWanted = true
            return
        }
        guard rest.readableBytes > 0 else {
            context.read()
            return
        }
        isFeeding = true
        repeat {
            isReadWanted = false
            feed(context)
            context.fireChannelReadComplete()
            // This read starts at the end of the pipeline. It reaches this handler again only if the engine takes more requests.
            context.channel.read()
        } while isReadWanted && rest.readableBytes > 0
        isFeeding = false
        if rest.readableBytes == 0, hasInputClosed {
            hasInputClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if isReadWanted { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Pass on the end of input only after the pending bytes.
        if case ChannelEvent.inputClosed? = event as? ChannelEvent, rest.readableBytes > 0 {
            hasInputClosed = true
            // Without this call, no further read event would request the next slice.
            context.channel.read()
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Passes a slice to the decoder. After the last slice, frees the buffer.
    private func feed(_ context: ChannelHandlerContext) {
        guard let slice = rest.readSlice(length: min(Self.size, rest.readableBytes)) else { return }
        if rest.readableBytes == 0 { rest = ByteBuffer() }
        context.fireChannelRead(wrapInboundOut(slice))
    }
}
