public import AsyncHTTPClient
public import HTTPTypes
public import NIOCore
import NIOHTTPCompression
public import ResilientHTTP
import Tracing

/// Sends requests through AsyncHTTPClient: for servers and commands.
///
/// Keeps no cookies and no cache. Redirects are followed for GET and HEAD only, and a redirect to another origin carries no
/// `Authorization`. A body is read from the connection as its reader asks for it, 64 KiB ahead of him. Nothing is sent twice: not over
/// a connection that broke, and a connection that could not be made fails at once instead of being tried until the time is up.
public final class AsyncHTTPClientTransport: HTTPTransport {
    /// The largest body that is unpacked, in bytes.
    public static let largestUnpackedBody = 64 * 1024 * 1024
    private let engine: Engine
    private let loops: EventLoops
    private let followsRedirects: Bool

    /// Creates a transport with an engine of its own, which is shut down with it.
    /// - Parameters:
    ///   - configuration: The engine's configuration, such as proxy, TLS and the size of its pool. What it says of redirects, compression
    ///     and repeated connections is the transport's.
    ///   - eventLoopGroup: What the engine runs on.
    ///   - followsRedirects: Whether a GET or HEAD that is redirected goes on; if not, the redirect is the answer.
    public init(
        configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
        eventLoopGroup: any EventLoopGroup = HTTPClient.defaultEventLoopGroup,
        followsRedirects: Bool = true
    ) {
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .enabled(limit: .size(Self.largestUnpackedBody))
        configuration.connectionPool.retryConnectionEstablishment = false
        // Without a tracer of the process, the engine would still describe each request to one that discards it.
        if configuration.tracing.tracer is NoOpTracer { configuration.tracing.tracer = nil }
        engine = Engine(HTTPClient(eventLoopGroupProvider: .shared(eventLoopGroup), configuration: configuration))
        loops = EventLoops(eventLoopGroup)
        self.followsRedirects = followsRedirects
    }

    /// A client that is shut down when the transport and all answers that are being read are gone.
    final class Engine: Sendable {
        let client: HTTPClient

        init(_ client: HTTPClient) {
            self.client = client
        }

        deinit {
            client.shutdown { _ in }
        }
    }

    /// Sends a request once. Cancelling the task closes the request, and so does the end of the time, while the body comes too.
    public func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        guard !Task.isCancelled else {
            throw TransportError(.cancelled, message: "cancelled before it began", wasSent: false)
        }
        let deadline = NIODeadline.now() + TimeAmount(bounded: timeout)
        var request = request
        var redirects = 0
        while true {
            let (response, answer) = try await exchange(request, body: body, deadline: deadline)
            guard followsRedirects, redirects < Redirection.most,
                let next = Redirection.request(after: response, to: request)
            else { return (response, answer) }
            (request, redirects) = (next, redirects + 1)
        }
    }

    private func exchange(
        _ request: HTTPRequest,
        body: RequestBody?,
        deadline: NIODeadline
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let message = try HTTPClient.Request(request, body: body)
        let reception = Reception(loops, host: message.host)
        do {
            let head = try await reception.head(of: message, deadline: deadline, client: engine.client)
            // Most bodies are small and have arrived with their heads.
            if let whole = reception.whole() { return (HTTPResponse(head), ResponseBody(whole)) }
            return (HTTPResponse(head), ResponseBody(next: BodyReader(reception, engine: engine).next))
        } catch {
            throw TransportError(asyncHTTPClient: error, isReceiving: false)
        }
    }
}

extension TimeAmount {
    /// A duration as the engine takes it; more than a year is a year.
    fileprivate init(bounded duration: Duration) {
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(365 * 86_400)).components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}

extension HTTPTransport where Self == AsyncHTTPClientTransport {
    /// A transport through AsyncHTTPClient.
    public static func asyncHTTPClient(
        configuration: HTTPClient.Configuration = HTTPClient.Configuration()
    ) -> AsyncHTTPClientTransport {
        AsyncHTTPClientTransport(configuration: configuration)
    }
}
