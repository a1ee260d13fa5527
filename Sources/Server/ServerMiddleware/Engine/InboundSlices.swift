import NIOCore

/// Passes bytes to the decoder in slices, and the next slice only when the engine has taken the requests of the last one.
///
/// The decoder makes all requests that are in the bytes it gets. Without slices a client that sends many small requests at once
/// fills memory with their heads: 64 KB of bytes are more than 2,000 requests. With them the bytes wait here, at most one read of
/// them, and the others in the kernel, where they stop the client.
final class InboundSlices: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The size of a slice: more than the head of a usual request.
    static let size = 2_048
    /// More bytes than these never wait: the engine reads them all if a client ends its half of the connection.
    static let limit = 1_048_576

    private var rest = ByteBuffer()
    private var isFeeding = false
    private var isReadWanted = false
    private var hasInputClosed = false
    private let onOverflow: () -> Void

    /// - Parameter onOverflow: Closes the connection, since too many bytes wait.
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
            // Asks the engine, from the end of the pipeline, whether it takes more.
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
        // The end stands behind the bytes that still wait.
        if case ChannelEvent.inputClosed? = event as? ChannelEvent, rest.readableBytes > 0 {
            hasInputClosed = true
            // Nothing is read any more that would ask for the next slice.
            context.channel.read()
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    private func feed(_ context: ChannelHandlerContext) {
        guard let slice = rest.readSlice(length: min(Self.size, rest.readableBytes)) else { return }
        if rest.readableBytes == 0 { rest = ByteBuffer() }
        context.fireChannelRead(wrapInboundOut(slice))
    }
}
