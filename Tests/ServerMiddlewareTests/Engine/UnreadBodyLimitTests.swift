import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import ServerMiddleware

@Suite struct UnreadBodyLimitTests {
    private func answered() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: UnreadBodyLimit())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeInbound(HTTPRequestPart.head(.init(method: .post, scheme: nil, authority: nil, path: "/")))
        try channel.writeOutbound(HTTPResponsePart.head(.init(status: .notFound)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        return channel
    }

    @Test("A slow body after the response ends its connection after 15 seconds")
    func slow() throws {
        let channel = try answered()
        for second in 1...15 {
            #expect(channel.isActive, "\(second)")
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: "x")))
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(!channel.isActive)
    }

    @Test("A body that ends after the response leaves the next request its full time")
    func ended() throws {
        let channel = try answered()
        channel.embeddedEventLoop.advanceTime(by: .seconds(14))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        try channel.writeInbound(HTTPRequestPart.head(.init(method: .post, scheme: nil, authority: nil, path: "/")))
        for _ in 0..<100 {
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 65, count: 4_096)))
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(channel.isActive)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test("With over 64 KiB left after the response the client has one second")
    func large() throws {
        let channel = try answered()
        for _ in 0..<17 { try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 65, count: 4_096))) }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }
}
