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

    @Test("Discards the late reply to a command that was sent shortly before its deadline")
    func lateReply() throws {
        let channel = EmbeddedChannel()
        var end: ValkeyError?
        let connection = ValkeyConnection(hasRoom: { _ in }, hasEnded: { end = $1 })
        try channel.pipeline.syncOperations.addHandler(connection)
        let results = Mutex<[Result<ValkeyReply, ValkeyError>]>([])
        connection.send([
            PendingCommand(bytes: [], deadline: channel.eventLoop.now + .milliseconds(1)) { result in
                results.withLock { $0.append(result) }
            },
            PendingCommand(bytes: [], deadline: .distantFuture) { result in results.withLock { $0.append(result) } },
        ])
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(results.withLock { $0 } == [.failure(.timedOut)])
        #expect(connection.room == ValkeyConnection.mostInFlight - 2, "the server can still execute the command")
        try channel.writeInbound(ByteBuffer(string: "+late\r\n+second\r\n"))
        #expect(results.withLock { $0 } == [.failure(.timedOut), .success(.text(Array("second".utf8)))])
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(end == nil)
        _ = try? channel.finish()
    }

    @Test("Ends the connection if the reply to an expired command doesn't arrive")
    func missingReply() throws {
        let channel = EmbeddedChannel()
        var end: ValkeyError?
        let connection = ValkeyConnection(hasRoom: { _ in }, hasEnded: { end = $1 })
        try channel.pipeline.syncOperations.addHandler(connection)
        let failed = Mutex<[Int]>([])
        let now = channel.eventLoop.now
        connection.send(
            [(1, now + .milliseconds(1)), (2, now + .seconds(1))].map { number, deadline in
                PendingCommand(bytes: [], deadline: deadline) { _ in failed.withLock { $0.append(number) } }
            }
        )
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(9))
        #expect(failed.withLock { $0 } == [1])
        #expect(end == nil)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(end == .timedOut)
        #expect(failed.withLock { $0 } == [1, 2], "each caller gets one result")
        _ = try? channel.finish()
    }

    @Test("Ends the connection at the first deadline if the pipeline is full")
    func fullPipeline() throws {
        let channel = EmbeddedChannel()
        var end: ValkeyError?
        let connection = ValkeyConnection(hasRoom: { _ in }, hasEnded: { end = $1 })
        try channel.pipeline.syncOperations.addHandler(connection)
        let failures = Mutex(0)
        let deadline = channel.eventLoop.now + .milliseconds(1)
        connection.send(
            (0..<ValkeyConnection.mostInFlight).map { _ in
                PendingCommand(bytes: [], deadline: deadline) { _ in failures.withLock { $0 += 1 } }
            }
        )
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(end == .timedOut)
        #expect(failures.withLock { $0 } == ValkeyConnection.mostInFlight)
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
