import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import ValkeyDriver

@Suite struct ValkeyConnectionTests {
    @Test("An error that ends the connection belongs to only one command")
    func otherCommands() throws {
        let channel = EmbeddedChannel()
        var end: ValkeyError?
        let connection = ValkeyConnection(hasRoom: { _ in }, hasEnded: { end = $1 })
        try channel.pipeline.syncOperations.addHandler(connection)
        let results = Mutex<[Result<ValkeyReply, ValkeyError>]>([])
        connection.send(
            (0..<2).map { _ in
                PendingCommand(bytes: [], deadline: .distantFuture) { result in results.withLock { $0.append(result) } }
            }
        )
        try channel.writeInbound(ByteBuffer(string: "-LOADING The server loads its data\r\n"))
        // The server may have executed the second command.
        #expect(results.withLock { $0 } == [.failure(.store(code: "LOADING")), .failure(.connectionLost)])
        #expect(end == .store(code: "LOADING"))
        _ = try? channel.finish()
    }

    @Test("Closes a channel that is created after the connection has ended")
    func lateChannel() throws {
        let channel = EmbeddedChannel()
        channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 6_379), promise: nil)
        let connection = ValkeyConnection(hasRoom: { _ in }, hasEnded: { _, _ in })
        connection.end(.closed)
        #expect(channel.isActive)
        try channel.pipeline.syncOperations.addHandler(connection)
        #expect(!channel.isActive)
        _ = try? channel.finish()
    }
}
