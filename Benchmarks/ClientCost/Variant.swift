import AsyncHTTPClient
import Foundation
import HTTPTypes
import HoldfastAsyncHTTPClient
import HoldfastURLSession
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import ResilientHTTP

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One way to make a call. The call returns how many bytes the body of the response has.
struct Variant: Sendable {
    var name: String
    var call: @Sendable () async throws -> Int
}

/// An engine used directly ("bare"), through our transport, and through the client with all defaults.
///
/// All three send the same method, path and headers, give a call 10 s or more, and read the whole body. Only the client adds
/// `X-Request-Timeout-Ms`.
struct Family: Sendable {
    var name: String
    var variants: [Variant]
    /// How many times more calls a turn makes than a turn of a real engine: a call in memory takes a hundredth of the time.
    var factor = 1

    private static let path = "/api/activities/17"
    private static let fields: HTTPFields = [
        .accept: "application/json, application/problem+json;q=0.9", .acceptLanguage: "en",
    ]
    private static let timeout = Duration.seconds(10)

    private init(
        _ name: String,
        url: URL,
        factor: Int = 1,
        transport: any HTTPTransport,
        bare: (@Sendable () async throws -> Int)? = nil
    ) {
        let request = HTTPRequest(
            method: .get,
            scheme: "http",
            authority: "\(url.host() ?? ""):\(url.port ?? 80)",
            path: Self.path,
            headerFields: Self.fields
        )
        let client = APIClient(baseURL: url, transport: transport)
        let direct = Variant(name: bare == nil ? "bare" : "our transport") {
            try await transport.send(request, body: nil, timeout: Self.timeout).1.collect(upTo: 65_536).bytes.count
        }
        self.name = name
        self.factor = factor
        variants =
            (bare.map { [Variant(name: "bare", call: $0)] } ?? []) + [
                direct, Variant(name: "client, all defaults") { try await client.send(.get, Self.path).body.count },
            ]
    }

    /// A transport that returns the same response without a network: what remains is the client.
    static func memory(url: URL) -> Family {
        Family("in memory", url: url, factor: 50, transport: MemoryTransport())
    }

    /// AsyncHTTPClient. The bare engine has the same configuration and requests compressed bodies, as the transport does.
    static func asyncHTTPClient(url: URL, engine: HTTPClient) -> Family {
        let text = url.absoluteString + path
        return Family("AsyncHTTPClient", url: url, transport: AsyncHTTPClientTransport()) {
            var request = HTTPClientRequest(url: text)
            for field in fields { request.headers.add(name: field.name.rawName, value: field.value) }
            request.headers.add(name: "Accept-Encoding", value: "gzip, deflate")
            let response = try await engine.execute(request, timeout: .seconds(10))
            return try await response.body.collect(upTo: 65_536).readableBytes
        }
    }

    /// The configuration of the bare engine of AsyncHTTPClient.
    static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.decompression = .enabled(limit: .size(AsyncHTTPClientTransport.largestUnpackedBody))
        configuration.redirectConfiguration = .disallow
        return configuration
    }

    /// URLSession. The bare session has the same configuration; libcurl requests compressed bodies by itself.
    static func urlSession(url: URL) -> Family {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        let session = URLSession(configuration: configuration)
        let address = url.appending(path: path)
        return Family("URLSession", url: url, transport: URLSessionTransport()) {
            var request = URLRequest(url: address)
            request.timeoutInterval = 10
            for field in fields { request.setValue(field.value, forHTTPHeaderField: field.name.rawName) }
            return try await session.data(for: request).0.count
        }
    }
}

/// Returns the same response to every request immediately.
private struct MemoryTransport: HTTPTransport {
    private static let body = Array(AnsweringServer.body.utf8)

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        (HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]), ResponseBody(Self.body))
    }
}
