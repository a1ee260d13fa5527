import NIOCore

/// Passes bytes to the decoder in slices. A slice follows when the engine has taken the requests of the slice before.
///
/// The decoder parses all requests in the bytes that it gets. Without slices, a client that sends many small requests at once would fill
/// the memory with their heads: 64 KB contain more than 2,000 requests. With slices, at most one read is pending here. Further bytes stay
/// in the kernel, whose flow control stops the client.
final class InboundSlices: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The size of a slice: more than the head of a usual request.
    static let size = 2_048
    /// The largest number of pending bytes. They can be more than one read because the engine reads everything when a client closes its
    /// half of the connection.
    static let limit = 1_048_576

    /// The bytes that have not been passed to the decoder.
    private var rest = ByteBuffer()
    /// Whether slices are being passed, so that a nested read only requests the next one.
    private var isFeeding = false
    private var isReadWanted = false
    private var hasInputClosed = false
    private let onOverflow: () -> Void

    /// Creates the handler of a connection.
    /// - Parameter onOverflow: Closes the connection because more than ``limit`` bytes are pending.
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

    /// Passes the next slice, or reads from the connection if there is none.
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
            // Ask the engine, from the end of the pipeline, whether it takes more.
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
        // The end of input follows the pending bytes.
        if case ChannelEvent.inputClosed? = event as? ChannelEvent, rest.readableBytes > 0 {
            hasInputClosed = true
            // No further read event would request the next slice.
            context.channel.read()
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Passes a slice to the decoder. It frees the buffer after the last slice.
    private func feed(_ context: ChannelHandlerContext) {
        guard let slice = rest.readSlice(length: min(Self.size, rest.readableBytes)) else { return }
        if rest.readableBytes == 0 { rest = ByteBuffer() }
        context.fireChannelRead(wrapInboundOut(slice))
    }
}
