import ErrorContract
import Foundation
import HTTPTypes
import HoldfastAsyncHTTPClient
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite(.timeLimit(.minutes(10))) struct AsyncHTTPClientTransportTests {
    // snippet: client-transport-checks
    @Test("The transport passes every check", arguments: TransportCheck.all)
    func passes(_ check: TransportCheck) async throws {
        try await check.run(AsyncHTTPClientTransport())
    }
    // snippet end

    @Test("A large response waits for a slow reader and arrives complete")
    func backpressure() async throws {
        let size = 8 * 1_024 * 1_024
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(size)\r\n\r\n"
        let server = try LoopbackServer([.respond(head + String(repeating: "x", count: size))])
        let (_, body) = try await AsyncHTTPClientTransport().send(server.request(), body: nil, timeout: .seconds(600))
        var (count, largest) = (0, 0)
        for try await chunk in body {
            (count, largest) = (count + chunk.count, max(largest, chunk.count))
            await Task.yield()
        }
        #expect(count == size)
        #expect(largest < size / 4, "the body was gathered before it was read")
        await server.close()
    }

    @Test("A response can be read after its transport is released")
    func outlives() async throws {
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1000000\r\n\r\n"
        let server = try LoopbackServer([.respond(head + String(repeating: "x", count: 1_000_000))])
        let body = try await AsyncHTTPClientTransport().send(server.request(), body: nil, timeout: .seconds(600)).1
        #expect(try await body.collect(upTo: 2_000_000).bytes.count == 1_000_000)
        await server.close()
    }

    @Test("A client over it retries a GET with a lost response, not a POST without a key")
    func outcomes() async throws {
        let fine = LoopbackServer.Step.respond("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
        let server = try LoopbackServer([.reset(""), fine, .reset("")])
        let url = try #require(URL(string: server.origin))
        var client = APIClient(
            baseURL: url,
            transport: .asyncHTTPClient(),
            timeout: .seconds(600),
            environment: ClientEnvironment(chance: { 0 })
        )
        client.attemptTimeout = .seconds(600)
        #expect(try await client.send(.get, "/a").body == Array("{}".utf8))
        await #expect { try await client.send(.post, "/a") } throws: { ($0 as? APIError)?.kind == .unknownOutcome }
        #expect(server.received.count == 3)
        await server.close()
    }

    @Test("A client over it does not retry a GET whose unpacked body exceeds the limit")
    func tooLarge() async throws {
        // The start of 70 MiB of zeros in gzip. Further zeros continue the compressed data.
        let start: [UInt8] = [
            0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0x02, 0x03, 0xEC, 0xC1, 0x01, 0x01, 0, 0, 0, 0x80, 0x90, 0xFE, 0xAF, 0xEE, 0x08,
            0x0A,
        ]
        let packed = start + [UInt8](repeating: 0, count: 71_000)
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
        let server = try LoopbackServer([.bytes(Array(head.utf8) + packed)])
        let url = try #require(URL(string: server.origin))
        var client = APIClient(
            baseURL: url,
            transport: .asyncHTTPClient(),
            timeout: .seconds(600),
            environment: ClientEnvironment(chance: { 0 })
        )
        (client.attemptTimeout, client.maximumBodySize) = (.seconds(600), 128 * 1_024 * 1_024)
        await #expect { try await client.send(.get, "/a") } throws: { error in
            let error = error as? APIError
            return error?.kind == .decoding && error?.status == 200 && error?.attempts == 1
        }
        await server.close()
    }
}
