public import AsyncHTTPClient
public import HTTPTypes
public import NIOCore
import NIOHTTP1
import NIOHTTPCompression
public import ResilientHTTP
import Timekeeping
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
        try await send(request, body: body, timeout: timeout, idleTimeout: nil)
    }

    /// Sends a request once and returns the response with its head. The engine pauses while 64 KiB of the body wait for their reader.
    public func stream(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration,
        idleTimeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        try await send(request, body: body, timeout: timeout, idleTimeout: idleTimeout)
    }

    private func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration,
        idleTimeout: Duration?
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        guard !Task.isCancelled else {
            throw TransportError(.cancelled, message: "cancelled before it began", wasSent: false)
        }
        let deadline = NIODeadline.now() + TimeAmount(bounded: timeout)
        let limits = idleTimeout.map { Reception.Limits(headDeadline: deadline, idle: TimeAmount(bounded: $0)) }
        var request = request
        var redirects = 0
        while true {
            let (response, answer) = try await exchange(request, body: body, deadline: deadline, limits: limits)
            guard followsRedirects, redirects < Redirection.most,
                let next = Redirection.request(after: response, to: request)
            else { return (response, answer) }
            (request, redirects) = (next, redirects + 1)
        }
    }

    private func exchange(
        _ request: HTTPRequest,
        body: RequestBody?,
        deadline: NIODeadline,
        limits: Reception.Limits?
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        // A body in memory that nothing observes is sent at once.
        let bytes = body?.progress == nil ? body?.bytes : nil
        var message = try HTTPClient.Request(request, body: bytes.map { .bytes($0) }, isStreamed: limits != nil)
        let reception = Reception(loops, host: message.host, sending: bytes == nil ? body : nil, limits: limits)
        if let sender = reception.sender { message.body = sender.engineBody }
        let deadline = limits == nil ? deadline : nil
        do {
            let head = try await head(of: message, reception: reception, deadline: deadline)
            reception.handOut()
            // Most bodies are small and have arrived with their heads.
            if let whole = reception.whole() { return (HTTPResponse(head), ResponseBody(whole)) }
            return (HTTPResponse(head), ResponseBody(next: BodyReader(reception, engine: engine).next))
        } catch {
            throw TransportError(asyncHTTPClient: error, isReceiving: false)
        }
    }

    private func head(
        of message: HTTPClient.Request,
        reception: Reception,
        deadline: NIODeadline?
    ) async throws -> HTTPResponseHead {
        guard let sender = reception.sender else {
            return try await reception.head(of: message, deadline: deadline, client: engine.client)
        }
        // The head of a success is returned when the body was sent; any other ends the sending.
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await sender.run() }
            defer {
                sender.close()
                group.cancelAll()
            }
            let head = try await reception.head(of: message, deadline: deadline, client: engine.client)
            if (200..<300).contains(head.status.code) {
                await withTaskCancellationHandler {
                    await sender.ended()
                } onCancel: {
                    sender.close()
                    reception.cancel()
                }
            }
            return head
        }
    }
}

extension TimeAmount {
    /// A duration as the engine takes it; more than a year is a year.
    fileprivate init(bounded duration: Duration) {
        self = .nanoseconds(min(max(duration, .zero), .seconds(365 * 86_400)).wholeNanoseconds)
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
