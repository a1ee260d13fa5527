import DataServerTesting
import Foundation
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import ValkeyDriver

@Suite(.timeLimit(.minutes(10))) struct ValkeyClientTests {
    /// The limit of a wait. It only ends a test that would otherwise hang.
    private static let patience = Duration.seconds(60)

    private func withClient<Result>(
        _ url: String,
        scripts: [ValkeyScript] = [],
        _ body: (ValkeyClient) async throws -> Result
    ) async throws -> Result {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let client = ValkeyClient(address: try ValkeyAddress(url: url), scripts: scripts, logger: logger)
        do {
            let result = try await body(client)
            await client.close()
            return result
        } catch {
            await client.close()
            throw error
        }
    }

    private func failure(of body: () async throws -> Void) async -> ValkeyError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? ValkeyError
        }
    }

    /// Waits until the client has noticed that its connection is lost.
    private func untilLost(_ client: ValkeyClient) async throws {
        while client.isReady {
            _ = try? await client.send(ValkeyCommand("PING"), within: .milliseconds(50))
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    @Test("Matches the replies of many concurrent commands")
    func concurrent() async throws {
        try await ValkeyServer.run { server in
            try await withClient(server.url) { client in
                try await client.waitUntilReady(within: Self.patience)
                try await withThrowingTaskGroup { group in
                    for number in 0..<2_000 {
                        group.addTask {
                            let reply = try await client.send(ValkeyCommand("ECHO", "\(number)"), within: Self.patience)
                            #expect(reply == .text(Array("\(number)".utf8)))
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test("Signs in, selects the database, and names the connection")
    func signIn() async throws {
        try await ValkeyServer.run(["--requirepass", "open sesame"]) { server in
            try await withClient("valkey://:open%20sesame@127.0.0.1:\(server.port)/5") { client in
                try await client.waitUntilReady(within: Self.patience)
                _ = try await client.send(ValkeyCommand("SET", "a", "1"), within: Self.patience)
                let info = try await client.send(ValkeyCommand("CLIENT", "LIST"), within: Self.patience)
                guard case .text(let list) = info else { throw TestFailure("no list") }
                #expect(String(decoding: list, as: UTF8.self).contains("name=holdfast"))
                #expect(String(decoding: list, as: UTF8.self).contains("db=5"))
            }
            for (url, code) in [("valkey://:wrong@127.0.0.1:\(server.port)", "WRONGPASS"), (server.url, "NOAUTH")] {
                try await withClient(url) { client in
                    // On a busy machine, an attempt to sign in can first time out.
                    try await waitUntil("the server refuses the sign-in with \(code)") {
                        let error = await failure { try await client.waitUntilReady(within: .milliseconds(50)) }
                        return error == .configuration(code: code)
                    }
                    #expect(!client.isReady)
                }
            }
        }
    }

    @Test("A stopped server accepts a connection, but is not ready")
    func stopped() async throws {
        try await ValkeyServer.run { server in
            server.signal(SIGSTOP)
            try await withClient(server.url) { client in
                let error = await failure { try await client.waitUntilReady(within: .milliseconds(600)) }
                #expect(error == .timedOut || error == .unavailable)
                #expect(await failure { _ = try await client.send(ValkeyCommand("PING"), within: .seconds(1)) } == .unavailable)
                server.signal(SIGCONT)
                try await client.waitUntilReady(within: Self.patience)
            }
        }
    }

    @Test("Connects to the second address of a name if the first one drops packets")
    func unresponsiveAddress() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        // Accepts no connection. When its backlog is full, the kernel drops the packets of further connections.
        let full = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1)
            .serverChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0).get()
        let silent = try #require(full.localAddress)
        var (others, refusals): ([any Channel], Int) = ([], 0)
        // One timeout could also be the effect of a busy machine.
        while refusals < 2, others.count < 64 {
            do {
                others.append(try await ClientBootstrap(group: group).connectTimeout(.seconds(1)).connect(to: silent).get())
                refusals = 0
            } catch {
                refusals += 1
            }
        }
        try #require(refusals == 2)
        try await ValkeyServer.run { server in
            let addresses = [silent, try SocketAddress(ipAddress: "127.0.0.1", port: server.port)]
            let client = ValkeyClient(
                address: try ValkeyAddress(url: "valkey://valkey.test"),
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
                resolver: FixedResolver(addresses: addresses, loop: group.next())
            )
            let error = await failure { try await client.waitUntilReady(within: Self.patience) }
            #expect(error == nil)
            await client.close()
        }
        for channel in others + [full] { channel.close(promise: nil) }
    }

    @Test("A late reply closes the connection, and at most one batch executes late")
    func timeout() async throws {
        try await ValkeyServer.run { server in
            try await withClient(server.url) { client in
                try await client.waitUntilReady(within: Self.patience)
                server.signal(SIGSTOP)
                var failures: [ValkeyError?] = []
                // On a busy machine, all commands can expire before the client sends one.
                while client.isReady, !failures.contains(.timedOut) {
                    let results: [ValkeyError?] = try await withThrowingTaskGroup { group in
                        for _ in 0..<1_000 {
                            group.addTask {
                                await failure {
                                    _ = try await client.send(ValkeyCommand("INCR", "late"), within: .milliseconds(200))
                                }
                            }
                        }
                        return try await group.reduce(into: []) { $0.append($1) }
                    }
                    failures += results
                }
                #expect(failures.allSatisfy { $0 == .timedOut || $0 == .unavailable })
                #expect(failures.contains(.timedOut))
                #expect(!client.isReady)
                server.signal(SIGCONT)
                try await client.waitUntilReady(within: Self.patience)
                guard case .text(let count) = try await client.send(ValkeyCommand("GET", "late"), within: Self.patience) else {
                    return
                }
                #expect(Int(String(decoding: count, as: UTF8.self)) ?? .max <= ValkeyConnection.mostInFlight)
            }
        }
    }

    @Test("A command that expires before it is sent doesn't end the connection")
    func expired() async throws {
        try await ValkeyServer.run { server in
            try await withClient(server.url) { client in
                try await client.waitUntilReady(within: Self.patience)
                for _ in 0..<10 {
                    let error = await failure { _ = try await client.send(ValkeyCommand("INCR", "late"), within: .zero) }
                    #expect(error == .unavailable)
                }
                #expect(client.isReady)
                #expect(try await client.send(ValkeyCommand("GET", "late"), within: Self.patience) == .null)
            }
        }
    }

    @Test("Reconnects after the server was killed and restarted, and loads its scripts")
    func restart() async throws {
        let script = ValkeyScript("return redis.call('INCRBY', KEYS[1], ARGV[1])")
        try await ValkeyServer.run { server in
            try await withClient(server.url, scripts: [script]) { client in
                try await client.waitUntilReady(within: Self.patience)
                let call = {
                    try await client.evaluate(
                        script,
                        keys: [Array("n".utf8)],
                        arguments: [Array("3".utf8)],
                        within: Self.patience
                    )
                }
                #expect(try await call() == .integer(3))
                server.kill()
                try await untilLost(client)
                try await server.start()
                try await client.waitUntilReady(within: Self.patience)
                #expect(try await call() == .integer(3))
                try await server.cli("SCRIPT", "FLUSH")
                #expect(try await call() == .integer(6), "the text was sent")
                #expect(try await call() == .integer(9))
            }
        }
    }

    @Test("Counts connections to another process of the server, and no other connections")
    func restarts() async throws {
        try await ValkeyServer.run { server in
            try await withClient(server.url) { client in
                try await client.waitUntilReady(within: Self.patience)
                let first = try await client.send(ValkeyCommand("CLIENT", "ID"), within: Self.patience)
                _ = try? await client.send(ValkeyCommand("QUIT"), within: Self.patience)
                var id = first
                while id == first {
                    try await client.waitUntilReady(within: Self.patience)
                    id = (try? await client.send(ValkeyCommand("CLIENT", "ID"), within: Self.patience)) ?? first
                    try await Task.sleep(for: .milliseconds(1))
                }
                #expect(client.restarts == 0)
                for count in 1...2 {
                    server.kill()
                    try await untilLost(client)
                    try await server.start()
                    try await client.waitUntilReady(within: Self.patience)
                    #expect(client.restarts == count)
                }
            }
        }
    }

    @Test("Stays usable if the user may not execute INFO")
    func noInfo() async throws {
        try await ValkeyServer.run { server in
            try await server.cli("ACL", "SETUSER", "app", "on", ">password", "~*", "+@all", "-info")
            try await withClient("valkey://app:password@127.0.0.1:\(server.port)") { client in
                try await client.waitUntilReady(within: Self.patience)
                #expect(try await client.send(ValkeyCommand("PING"), within: Self.patience) == .text(Array("PONG".utf8)))
                #expect(client.restarts == 0)
            }
        }
    }

    @Test("Distinguishes errors of the store, settings and commands, and continues")
    func errors() async throws {
        try await ValkeyServer.run(["--maxmemory", "1mb"]) { server in
            try await withClient(server.url) { client in
                try await client.waitUntilReady(within: Self.patience)
                let full = await failure {
                    _ = try await client.send(
                        ValkeyCommand("SET", "a", String(repeating: "x", count: 2_000_000)),
                        within: Self.patience
                    )
                    _ = try await client.send(ValkeyCommand("SET", "b", "x"), within: Self.patience)
                }
                #expect(full == .store(code: "OOM"))
                #expect(
                    await failure { _ = try await client.send(ValkeyCommand("NOTHING"), within: Self.patience) }
                        == .refused(code: "ERR")
                )
                try await client.waitUntilReady(within: Self.patience)
            }
        }
        #expect(ValkeyError(text: "MOVED 1234 10.0.0.1:6379") == .configuration(code: "MOVED"))
        #expect(ValkeyError(text: "LOADING Redis is loading") == .store(code: "LOADING"))
        #expect(ValkeyError(text: "secret-key is wrong") == .refused(code: "ERR"))
    }

    @Test("Commands of a closed client fail")
    func closed() async throws {
        try await ValkeyServer.run { server in
            try await withClient(server.url) { client in
                try await client.waitUntilReady(within: Self.patience)
                await client.close()
                #expect(await failure { _ = try await client.send(ValkeyCommand("PING"), within: .seconds(1)) } == .unavailable)
                #expect(await failure { try await client.waitUntilReady(within: .seconds(1)) } == .closed)
            }
        }
    }
}

/// Resolves each name to the same addresses.
private struct FixedResolver: Resolver, Sendable {
    let addresses: [SocketAddress]
    let loop: any EventLoop

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { loop.makeSucceededFuture(addresses) }
    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { loop.makeSucceededFuture([]) }
    func cancelQueries() {}
}
