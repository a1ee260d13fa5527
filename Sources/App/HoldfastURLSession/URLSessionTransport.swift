public import HTTPTypes
public import ResilientHTTP

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Sends requests through `URLSession`, on Apple platforms and on Linux.
///
/// The transport has no cookies and no cache. It follows redirects only for GET and HEAD, at most ten per request. If a redirect leads to
/// another origin, the transport removes `Authorization` and `Cookie`. On servers, use `HoldfastAsyncHTTPClient` instead.
///
/// ```swift
/// let api = APIClient(baseURL: url, transport: URLSessionTransport())
/// ```
///
/// A transport has one `URLSession`, and all requests share its connections. Create one transport per app, so that calls reuse connections.
/// Several tasks can use the transport at the same time. If the transport is released, requests in flight continue.
///
/// On Linux, `URLSession` has limitations. The transport works around them at a cost:
///
/// - A request with a body, or a request that is not safe to repeat, opens a new connection.
/// - The transport writes a body that is a stream to a temporary file before it sends the body.
/// - A slow reader of a large response doesn't pause the server, so the transport writes unread bytes to a temporary file.
public final class URLSessionTransport: HTTPTransport {
    /// A session and the delegate of its tasks. Most requests use the same lane. On Linux, each request that needs a new connection has its
    /// own lane.
    private struct Lane {
        let session: URLSession
        let exchanges: URLSessionExchanges

        init(_ configuration: URLSessionConfiguration, exchanges: URLSessionExchanges = URLSessionExchanges()) {
            self.exchanges = exchanges
            #if canImport(FoundationNetworking)
                session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: DelegateQueue())
            #else
                session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
            #endif
        }

        /// Creates the task of a request. A body in a file gets an upload task, which reads the file during the transfer.
        func task(_ request: URLRequest, body: RequestBody?) -> URLSessionTask {
            #if !canImport(FoundationNetworking)
                if case .file(let url) = body?.content { return session.uploadTask(with: request, fromFile: url) }
            #endif
            return session.dataTask(with: request)
        }
    }

    /// The lane for requests that can share a connection.
    private let lane: Lane
    private let configuration: URLSessionConfiguration
    private let followsRedirects: Bool

    /// Creates a transport. The transport opens no connection before the first request.
    /// - Parameters:
    ///   - configuration: The session's configuration, such as proxies, the minimum TLS version and the use of metered connections. The
    ///     transport copies the configuration, so later changes have no effect. By default, the session stores nothing on disk. Cookies and
    ///     the cache are always off.
    ///   - followsRedirects: Whether the transport follows redirects of GET and HEAD. With `false`, it returns the redirect as the
    ///     response.
    public convenience init(configuration: URLSessionConfiguration = .ephemeral, followsRedirects: Bool = true) {
        self.init(configuration: configuration, followsRedirects: followsRedirects, exchanges: URLSessionExchanges())
    }

    /// Creates a transport with a copy of a configuration, without cookies and cache.
    private init(configuration: URLSessionConfiguration, followsRedirects: Bool, exchanges: URLSessionExchanges) {
        // The caller may use the same configuration object for other sessions.
        let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
        configuration.httpShouldSetCookies = false
        // Without this setting, Foundation on Linux searches each header field for cookies. The search takes a seventh of the time of a
        // small response.
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        self.configuration = configuration
        self.followsRedirects = followsRedirects
        self.lane = Lane(configuration, exchanges: exchanges)
    }

    #if !canImport(FoundationNetworking)
        /// Decides about an authentication challenge of a connection, such as the certificate of its server.
        public typealias ChallengeHandler =
            @Sendable (URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)

        /// Creates a transport that decides about authentication challenges of TLS. Use this initializer for certificate pinning and client
        /// certificates. The initializer is not available on Linux, where `URLSession` has no challenges of TLS.
        ///
        /// If the handler cancels a connection, the call fails with the code `TransportError.Code.untrusted`. In this case, the session has
        /// sent nothing, and the client doesn't retry the call.
        ///
        /// ```swift
        /// let transport = URLSessionTransport { challenge in
        ///     guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
        ///     return isPinned(trust) ? (.useCredential, URLCredential(trust: trust)) : (.cancelAuthenticationChallenge, nil)
        /// }
        /// ```
        /// - Parameters:
        ///   - configuration: The session's configuration.
        ///   - followsRedirects: Whether the transport follows redirects of GET and HEAD. With `false`, it returns the redirect as the
        ///     response.
        ///   - challenges: Decides about each TLS challenge: the server's certificate, or the request for a client certificate. The session
        ///     calls the handler on its queue. The handler may evaluate a certificate, but must not wait for a user, because the queue
        ///     serves all requests.
        public convenience init(
            configuration: URLSessionConfiguration = .ephemeral,
            followsRedirects: Bool = true,
            challenges: @escaping ChallengeHandler
        ) {
            let exchanges = URLSessionExchanges(challenges: challenges)
            self.init(configuration: configuration, followsRedirects: followsRedirects, exchanges: exchanges)
        }
    #endif

    deinit {
        lane.session.finishTasksAndInvalidate()
    }

    /// Returns the lane for a request.
    ///
    /// On Linux, if a reused connection is reset, libcurl sends any request again, with any method. If the request has a body, libcurl
    /// waits forever to read the body again from its beginning. Therefore, some requests use a separate session, which has no connection
    /// yet: requests that must not be sent twice, and requests with a body.
    private func lane(for request: HTTPRequest, body: RequestBody?) -> Lane {
        #if canImport(FoundationNetworking)
            if body != nil || !request.isSafeToRepeat { return Lane(configuration) }
        #endif
        return lane
    }

    /// Sends a request once. If the task is canceled or the timeout is reached, the transport ends the transfer, even while the body
    /// arrives.
    /// - Parameters:
    ///   - request: The request without its body.
    ///   - body: The body, if there is one.
    ///   - timeout: The maximum duration, including all redirects and the body of the response.
    /// - Returns: The head of the response with any status, and the body as it arrives. The session doesn't pause for a slow reader.
    /// - Throws: `TransportError` if no head of a response is received.
    public func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        try await send(request, body: body, timeout: timeout, idleTimeout: nil)
    }

    /// Sends a request once and returns the response when its head has arrived. If 256 KiB of the body are unread, the session pauses until
    /// the reader has read a part of them. On Linux, the session can't pause, so the transport writes further bytes to a temporary file.
    /// - Parameters:
    ///   - request: The request without its body.
    ///   - body: The body, if there is one. The method returns the response after it has sent the whole body. If the server refuses the
    ///     request earlier, the method returns the response at once.
    ///   - timeout: The maximum time until the head of a success, or until the last byte of any other response.
    ///   - idleTimeout: The maximum time without a byte in either direction. From the moment at which 256 KiB are unread until the reader
    ///     has read a part of them, this time doesn't run.
    /// - Returns: The head of the response with any status, and the body as it arrives.
    /// - Throws: `TransportError` if no head of a response is received.
    public func stream(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration,
        idleTimeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        try await send(request, body: body, timeout: timeout, idleTimeout: idleTimeout)
    }

    /// Sends a request and follows its redirects, under one deadline.
    private func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration,
        idleTimeout: Duration?
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let deadline = ContinuousClock.now.advanced(by: timeout)
        var (request, redirects, hasLeftOrigin) = (request, 0, false)
        while true {
            var response: (HTTPResponse, ResponseBody)
            do throws(TransportError) {
                response = try await exchange(request, body: body, deadline: deadline, idleTimeout: idleTimeout)
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

    /// Sends a request without following redirects.
    private func exchange(
        _ request: HTTPRequest,
        body: RequestBody?,
        deadline: ContinuousClock.Instant,
        idleTimeout: Duration?
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        #if canImport(FoundationNetworking)
            let streamed = try await stored(body, deadline: deadline, idleTimeout: idleTimeout)
            let endBody: (@Sendable () -> Void)? = nil
        #else
            let streamed = body.flatMap { if case .stream = $0.content { UploadPipe() } else { nil } }
            let endBody = streamed.map { pipe in { @Sendable in pipe.close() } }
        #endif
        let urlRequest = try URLRequest(request, body: body, streamed: streamed)
        let lane = lane(for: request, body: body)
        let task = lane.task(urlRequest, body: body)
        if request.headerFields.contains(.priority) { task.priority = request.taskPriority }
        lane.exchanges.add(task, deadline: deadline, idleTimeout: idleTimeout, body: body, endBody: endBody)
        do {
            #if !canImport(FoundationNetworking)
                if let body, let streamed { return try await response(to: task, on: lane, sending: body, through: streamed) }
            #endif
            return try await response(to: task, on: lane)
        } catch {
            throw TransportError(urlSession: error)
        }
    }

    #if canImport(FoundationNetworking)
        /// Writes a body that is a stream to a file. The session then sends the body from this file. If the session itself waited for the
        /// stream, it would block all sessions of the process.
        /// - Returns: The file; `nil` if the body is not a stream.
        /// - Throws: `TransportError` whose `wasSent` is `false`.
        private func stored(
            _ body: RequestBody?,
            deadline: ContinuousClock.Instant,
            idleTimeout: Duration?
        ) async throws(TransportError) -> TemporaryFile? {
            guard let body, case .stream = body.content else { return nil }
            let file: TemporaryFile
            do { file = try TemporaryFile() } catch {
                throw TransportError(.other, message: "no temporary file for the body", wasSent: false, cause: error)
            }
            try await file.write(body, deadline: deadline, idleTimeout: idleTimeout)
            return file
        }
    #endif

    /// Starts a task and waits for the head of its response. If the task has a separate session, the method invalidates this session after
    /// the task has begun. The session then ends after the task.
    /// - Throws: The session's error. If the caller's task is canceled, the error is `URLError` with the code `cancelled`.
    private func response(to task: URLSessionTask, on lane: Lane) async throws -> (HTTPResponse, ResponseBody) {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if lane.exchanges.begin(task, continuation: continuation) { task.resume() }
                if lane.session !== self.lane.session { lane.session.finishTasksAndInvalidate() }
            }
        } onCancel: {
            lane.exchanges.cancel(task)
        }
    }

    #if !canImport(FoundationNetworking)
        /// Sends a body that is a stream, and returns the response. For a success, the method waits until the whole body was sent. If the
        /// head has any other status, the method stops sending.
        private func response(
            to task: URLSessionTask,
            on lane: Lane,
            sending body: RequestBody,
            through pipe: UploadPipe
        ) async throws -> (HTTPResponse, ResponseBody) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        try await body.write(to: pipe.write)
                        pipe.finish()
                    } catch is UploadPipe.Closed {
                        // The exchange has ended, or the server has refused the request.
                    } catch {
                        guard !pipe.isClosed else { return }
                        lane.exchanges.cancel(task)
                        throw error
                    }
                }
                defer { pipe.close() }
                do {
                    let response = try await response(to: task, on: lane)
                    if response.0.status.kind == .successful {
                        // The caller has the head, so a cancellation no longer reaches the task through the wait for the head.
                        await withTaskCancellationHandler {
                            await pipe.ended()
                        } onCancel: {
                            pipe.close()
                            lane.exchanges.cancel(task)
                        }
                    }
                    group.cancelAll()
                    pipe.close()
                    // Throws if the body of the request could not be read.
                    if response.0.status.kind == .successful { try await group.waitForAll() }
                    return response
                } catch {
                    group.cancelAll()
                    pipe.close()
                    // If the body could not be read, the task was canceled for this reason. The method then throws the error of the body.
                    do { try await group.waitForAll() } catch let cause as TransportError { throw cause } catch {}
                    throw error
                }
            }
        }
    #endif
}

#if canImport(FoundationNetworking)
    /// An operation queue that runs each call of the delegate at once, on the serial queue of the session.
    ///
    /// Without this class, each of the three delegate calls for a response would wake another thread. `URLSessionExchanges` can run on the
    /// session's queue: it waits only for the file system, and calls no method of the session that waits for this queue. The class is
    /// `@unchecked Sendable` like `OperationQueue`, and has no state.
    private final class DelegateQueue: OperationQueue, @unchecked Sendable {
        /// Runs a call of the delegate at once, on the thread that adds the call.
        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            block()
        }
    }
#endif

extension HTTPTransport where Self == URLSessionTransport {
    /// Returns a transport that uses `URLSession`.
    /// - Parameter configuration: The session's configuration. Cookies and the cache are always off.
    public static func urlSession(configuration: URLSessionConfiguration = .ephemeral) -> URLSessionTransport {
        URLSessionTransport(configuration: configuration)
    }
}
