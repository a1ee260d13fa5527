public import AsyncHTTPClient
public import HTTPTypes
public import NIOCore
import NIOHTTP1
import NIOHTTPCompression
public import ResilientHTTP
import Timekeeping
import Tracing

/// A transport that sends requests through AsyncHTTPClient, for servers and command-line tools.
///
/// Use it on Linux and in servers, where an event loop is already running. In apps for Apple platforms, use `URLSessionTransport` of
/// `HoldfastURLSession`, which respects the system's proxies, VPN and background rules. Create one transport per process, because each
/// transport has its own pool of connections.
///
/// The transport has no cookies and no cache. It follows redirects only for GET and HEAD, and sends no `Authorization` to another origin.
/// It reads a body from the connection at the speed of the body's reader, and at most 64 KiB ahead.
///
/// The transport sends no request twice. If a connection breaks or can't be established, the request fails immediately, and the client
/// (`APIClient`) decides whether to repeat the request.
///
/// Several tasks can call all methods at the same time. When the transport and all bodies that are being read are released, the HTTP client
/// of AsyncHTTPClient (the engine) shuts down.
///
/// ```swift
/// let api = APIClient(baseURL: url, transport: .asyncHTTPClient(), middleware: ClientPipeline.standard())
/// ```
public final class AsyncHTTPClientTransport: HTTPTransport {
    /// The maximum size of a body after decompression, in bytes: 64 MiB. Reading a larger body fails with the code
    /// `TransportError.Code.tooLarge`, so that a small compressed body can't exhaust the memory. Streamed responses are not compressed and
    /// have no such limit.
    public static let largestUnpackedBody = 64 * 1024 * 1024
    /// The engine. Bodies that are being read also retain it.
    private let engine: Engine
    /// The event loops of the exchanges.
    private let loops: EventLoops
    private let requests = RequestFactory()
    /// Whether the transport follows redirects of GET and HEAD.
    private let followsRedirects: Bool

    /// Creates a transport with a new HTTP client of AsyncHTTPClient, which connects at the first request.
    /// - Parameters:
    ///   - configuration: The configuration of AsyncHTTPClient, such as proxy, TLS and the size of its pool. The transport overrides the
    ///     configuration's settings for redirects, compression and connection retries.
    ///   - eventLoopGroup: The event loops to use. The transport doesn't shut them down.
    ///   - followsRedirects: Whether the transport follows redirects of GET and HEAD. With `false`, it returns the redirect as the
    ///     response.
    public init(
        configuration: HTTPClient.Configuration = HTTPClient.Configuration(),
        eventLoopGroup: any EventLoopGroup = HTTPClient.defaultEventLoopGroup,
        followsRedirects: Bool = true
    ) {
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .enabled(limit: .size(Self.largestUnpackedBody))
        configuration.connectionPool.retryConnectionEstablishment = false
        // With a no-op tracer, the engine would still create a span for each request.
        if configuration.tracing.tracer is NoOpTracer { configuration.tracing.tracer = nil }
        engine = Engine(HTTPClient(eventLoopGroupProvider: .shared(eventLoopGroup), configuration: configuration))
        loops = EventLoops(
            eventLoopGroup,
            connections: configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit
        )
        self.followsRedirects = followsRedirects
    }

    /// The HTTP client of AsyncHTTPClient, which shuts down when its last owner is released. The owners are the transport and the bodies
    /// that are being read.
    final class Engine: Sendable {
        /// The client of AsyncHTTPClient.
        let client: HTTPClient

        init(_ client: HTTPClient) {
            self.client = client
        }

        deinit {
            client.shutdown { _ in }
        }
    }

    /// Sends a request once, and follows redirects. Use this method for responses that fit into memory. For bodies of any size, use
    /// ``stream(_:body:timeout:idleTimeout:)``.
    ///
    /// If the task is canceled or the timeout has passed, the transport closes the request, even while the body arrives.
    /// - Parameters:
    ///   - request: The request, with scheme and authority.
    ///   - body: The body; `nil` for no body.
    ///   - timeout: The maximum duration of the exchange, including redirects and the body of the response; at most a year.
    /// - Returns: The head of the response, and its body. If a small body arrived with the head, it is already in memory.
    /// - Throws: `TransportError`. Its `wasSent` is `false` if the request can't have reached the server.
    public func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        try await send(request, body: body, timeout: timeout, idleTimeout: nil)
    }

    /// Sends a request once, and returns the response when its head has arrived. The engine pauses while 64 KiB of the body are unread.
    ///
    /// Use this method instead of ``send(_:body:timeout:)`` for bodies of any size. If the response is a success (2xx), `timeout` applies
    /// only until its head arrives. Afterwards, the body may take any time as long as bytes arrive. The transport requests an uncompressed
    /// response, except if the request has an `Accept-Encoding`.
    /// - Parameters:
    ///   - request: The request, with scheme and authority.
    ///   - body: The body; `nil` for no body.
    ///   - timeout: The maximum time until the head of a success; at most a year.
    ///   - idleTimeout: The maximum time without a byte in either direction; at most a year. The time in which the reader takes no bytes
    ///     doesn't count.
    /// - Returns: The head of the response, and its body. If the caller releases the body before its end, the transport closes the request.
    /// - Throws: `TransportError`. Its `wasSent` is `false` if the request can't have reached the server.
    public func stream(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration,
        idleTimeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        try await send(request, body: body, timeout: timeout, idleTimeout: idleTimeout)
    }

    /// Sends a request and follows redirects. All exchanges share the deadline.
    /// - Parameter idleTimeout: The maximum time without a byte; `nil` if the timeout applies to the whole exchange.
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
        var (request, redirects, hasLeftOrigin) = (request, 0, false)
        while true {
            var response: (HTTPResponse, ResponseBody)
            do throws(TransportError) {
                response = try await exchange(request, body: body, deadline: deadline, limits: limits)
            } catch {
                // After a redirect, a server has received the request.
                var error = error
                error.wasSent = error.wasSent || redirects > 0
                throw error
            }
            guard followsRedirects, redirects < Redirection.most,
                let next = Redirection.request(after: response.0, to: request)
            else {
                response.1.isFromOtherOrigin = hasLeftOrigin
                return response
            }
            hasLeftOrigin = hasLeftOrigin || !Redirection.isSameOrigin(next, request)
            (request, redirects) = (next, redirects + 1)
        }
    }

    /// Sends a request and returns its response, which may be a redirect.
    ///
    /// If the whole body arrived together with the head, the method returns it in memory, which avoids one switch between threads.
    /// - Throws: `TransportError`.
    private func exchange(
        _ request: HTTPRequest,
        body: RequestBody?,
        deadline: NIODeadline,
        limits: Reception.Limits?
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        // If the body is in memory and has no progress closure, the exchange needs no sender.
        let bytes = body?.progress == nil ? body?.bytes : nil
        var message = try requests.make(request, body: bytes.map { .bytes($0) }, isStreamed: limits != nil)
        let reception = Reception(
            loops.host(Host.Key(scheme: message.scheme, name: message.host, port: message.port)),
            method: message.method,
            sending: bytes == nil ? body : nil,
            limits: limits
        )
        if let sender = reception.sender { message.body = sender.engineBody }
        let deadline = limits == nil ? deadline : nil
        do {
            let head = try await head(of: message, reception: reception, deadline: deadline)
            reception.handOut()
            // Most bodies are small and arrive together with the head.
            if let whole = reception.whole() { return (HTTPResponse(head), ResponseBody(whole)) }
            return (HTTPResponse(head), ResponseBody(next: BodyReader(reception, engine: engine).next))
        } catch {
            throw TransportError(asyncHTTPClient: error, isReceiving: false)
        }
    }

    /// Sends a request and returns the head of its response. A child task sends a streamed body.
    ///
    /// If the head is a success, the method returns after the whole body was sent. After any other head, the method ends the sending,
    /// because the server has refused the body. The end of the sending also ends the exchange, so the method first waits for the body of a
    /// short refusal.
    private func head(
        of message: HTTPClient.Request,
        reception: Reception,
        deadline: NIODeadline?
    ) async throws -> HTTPResponseHead {
        guard let sender = reception.sender else {
            return try await reception.head(of: message, deadline: deadline, client: engine.client)
        }
        // After a success, wait for the end of the body. After a short refusal, wait for the end of the response. After any other head, end
        // the sending.
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await sender.run() }
            defer {
                sender.close()
                group.cancelAll()
            }
            let head = try await reception.head(of: message, deadline: deadline, client: engine.client)
            if (200..<300).contains(head.status.code) || reception.isReceivingRefusal {
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
    /// Converts a duration to the type of NIO. A negative duration becomes zero, and a duration above a year becomes a year, so the
    /// conversion can't overflow.
    fileprivate init(bounded duration: Duration) {
        self = .nanoseconds(min(max(duration, .zero), .seconds(365 * 86_400)).wholeNanoseconds)
    }
}

extension HTTPTransport where Self == AsyncHTTPClientTransport {
    /// Returns a transport that sends requests through AsyncHTTPClient, on the default event loops.
    /// - Parameter configuration: The configuration of AsyncHTTPClient, such as proxy, TLS and the size of its pool.
    public static func asyncHTTPClient(
        configuration: HTTPClient.Configuration = HTTPClient.Configuration()
    ) -> AsyncHTTPClientTransport {
        AsyncHTTPClientTransport(configuration: configuration)
    }
}
