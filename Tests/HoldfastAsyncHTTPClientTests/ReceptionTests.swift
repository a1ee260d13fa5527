import AsyncHTTPClient
import HoldfastTesting
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite(.timeLimit(.minutes(10))) struct ReceptionTests {
    /// A delegate that ignores its response.
    private final class IgnoredResponse: HTTPClientResponseDelegate {
        typealias Response = Void

        func didFinishRequest(task: HTTPClient.Task<Void>) {}
    }

    @Test("Does not limit a body by the deadline of a head that arrives during the start")
    func headDuringStart() async throws {
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n"
        let server = try LoopbackServer([
            .respond(head + "Content-Length: 0\r\n\r\n"), .stall(head + "Content-Length: 9\r\n\r\nhalf"),
        ])
        let group = MultiThreadedEventLoopGroup.singleton
        let client = HTTPClient(eventLoopGroupProvider: .shared(group))
        let request = try HTTPClient.Request(url: server.origin + "/a")
        let task = client.execute(request: request, delegate: IgnoredResponse())
        try? await task.get()
        let limits = Reception.Limits(headDeadline: .now(), idle: .hours(1))
        let reception = Reception(Self.host(of: request, on: group), limits: limits)
        // On a busy machine, the event loop can process the head before the starting thread continues.
        _ = reception.didReceiveHead(task: task, HTTPResponseHead(version: .http1_1, status: .ok))
        _ = try? await reception.head(of: request, deadline: nil, client: client)
        let chunk = try? await reception.next()
        #expect(chunk == Array("half".utf8))
        reception.cancel()
        try await client.shutdown()
        await server.close()
    }

    @Test("Ends an exchange that is canceled or expires while it waits for a connection")
    func waiting() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let client = HTTPClient(eventLoopGroupProvider: .shared(group))
        let request = try HTTPClient.Request(url: "http://127.0.0.1:9/a")
        let host = Self.host(of: request, on: group)
        // The only slot is in use until the end of the test.
        host.enter(ObjectIdentifier(client), until: .distantFuture) { _ in }
        let early = await #expect(throws: HTTPClientError.self) {
            _ = try await Reception(host).head(of: request, deadline: .now(), client: client)
        }
        #expect(early == .getConnectionFromPoolTimeout)
        let reception = Reception(host)
        let task = Task { _ = try await reception.head(of: request, deadline: .now() + .hours(1), client: client) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await client.shutdown()
    }

    private static func host(of request: HTTPClient.Request, on group: any EventLoopGroup) -> Host {
        EventLoops(group, connections: 1).host(Host.Key(scheme: request.scheme, name: request.host, port: request.port))
    }
}
