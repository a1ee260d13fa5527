public import ErrorContract
public import Foundation
public import HTTPTypes

/// A client of an HTTP API. Its calls return a value or throw an `APIError`.
///
/// ```swift
/// let api = APIClient(baseURL: url, transport: transport, middleware: ClientPipeline.standard())
/// let orders: [Order] = try await api.get("/orders")
/// ```
///
/// The body of a success can be the value itself (flat), or an object that contains the value (wrapped: `{"success":true,"data":{…}}`). The
/// body of an error can have any format that `ErrorDecoder` knows. ``ClientMiddleware`` retries, delays or refuses calls.
/// ``ClientPipeline/standard(retry:gate:throttle:breaker:)`` returns the default middleware. The module `HoldfastURLSession` adds the
/// initializer `APIClient(baseURL:)`, which uses `URLSession` and all defaults.
///
/// A client is a value type: if you change a copy, the settings of the original stay the same. But both use the same transport and the same
/// middleware. For example, if a server responds to a call of the copy with 503, the original also delays its calls to this server.
public struct APIClient: Sendable {
    /// The base address of all paths.
    public let baseURL: URL
    /// The language that the client requests in `Accept-Language`.
    public var language: Language {
        didSet { blank = base.map { HTTPRequest(base: $0, language: language) } }
    }
    /// The language of all texts that the server sends in errors; `nil` if the language is unknown. An `APIError` presents a server's
    /// text only if the text is in the user's language. If this property is the user's language, the error assumes that all of the server's
    /// texts are in this language, and ignores `Content-Language`.
    ///
    /// Set the property for a backend whose texts are all in one language.
    public var serverTextLanguage: Language?
    /// The maximum duration of a call, including delays and the body of the response. A timeout in ``policies`` or in ``CallOptions`` takes
    /// precedence. An upload has its own maximum duration.
    public var timeout: Duration
    /// The maximum duration of one attempt. It applies only if the request is safe to repeat and its body is in memory. Any other request
    /// may use the whole time of the call.
    public var attemptTimeout: Duration = .seconds(10)
    /// The maximum size of a successful response's body, in bytes.
    public var maximumBodySize = 16 * 1024 * 1024
    /// The routes of the API, such as `/orders/{id}`. The client uses the routes to find the ``Endpoint`` of a call, which is a method and
    /// a route. If no route matches a path, the client replaces the parts of the path that resemble ids with `{id}`.
    public var routes: RouteTable
    /// The policies of individual endpoints.
    public var policies: EndpointPolicies {
        didSet { for route in policies.routes { routes.add(route) } }
    }
    /// The encoding and decoding of values as JSON.
    public var coding: JSONCoding
    /// Stores responses that have an `ETag`; `nil` for no cache. A client with a cache downloads the body of a stored response again only
    /// if the body has changed.
    public var cache: (any ResponseCache)? {
        get { storage?.cache }
        set {
            storage = newValue.map { ResponseCacheMiddleware($0) }
            for layer in middleware { clearStorage(with: layer) }
        }
    }
    /// The listeners that receive the events of calls, in this order. The client calls them synchronously, so they must return quickly.
    public var listeners: [any CallListener] = []
    let base: BaseAddress?
    /// A request with the scheme, the host and the headers that all requests of the client have; `nil` if the base URL is invalid.
    private var blank: HTTPRequest?
    private let transport: any HTTPTransport
    var middleware: [any ClientMiddleware]
    /// The first middleware if it adds idempotency keys; `nil` otherwise.
    private let keys: IdempotencyKeyMiddleware?
    /// The middleware that caches responses. It is the innermost layer, inside the layer that adds the session's token.
    var storage: ResponseCacheMiddleware?
    /// The error codes that the app knows, with the app's translations.
    public let catalogue: ErrorCatalogue
    /// Clocks, randomness and logger.
    public let environment: ClientEnvironment

    /// Creates a client.
    /// - Parameters:
    ///   - baseURL: The base address of all paths, with scheme and host.
    ///   - transport: The HTTP engine.
    ///   - language: The language that the client requests in `Accept-Language`.
    ///   - timeout: The maximum duration of a call.
    ///   - session: The session whose access token the client adds to calls; `nil` for none.
    ///   - policies: The policies of individual endpoints.
    ///   - coding: The encoding and decoding of values as JSON.
    ///   - middleware: The layers between the client and the transport, the outermost first. The client adds the layer of the session as
    ///     the innermost one.
    ///   - catalogue: The error codes that the app knows.
    ///   - environment: Clocks, randomness and logger.
    public init(
        baseURL: URL,
        transport: any HTTPTransport,
        language: Language = .english,
        timeout: Duration = .seconds(30),
        session: Session? = nil,
        policies: EndpointPolicies = EndpointPolicies(),
        coding: JSONCoding = .standard,
        middleware: [any ClientMiddleware] = ClientPipeline.standard(),
        catalogue: ErrorCatalogue = .standard,
        environment: ClientEnvironment = ClientEnvironment()
    ) {
        self.baseURL = baseURL
        self.base = BaseAddress(baseURL)
        self.blank = base.map { HTTPRequest(base: $0, language: language) }
        self.routes = RouteTable(policies.routes, basePath: base?.prefix ?? "")
        self.policies = policies
        self.coding = coding
        self.transport = transport
        self.language = language
        self.timeout = timeout
        self.middleware = middleware + (session.map { [AuthorizeMiddleware($0)] } ?? [])
        self.keys = middleware.first as? IdempotencyKeyMiddleware
        self.catalogue = catalogue
        self.environment = environment
    }

    /// Returns a copy of the client that adds a session's access token to its calls.
    ///
    /// Use this method if the user signed in through a client without a session. If the session exists when you create the client, pass it
    /// to the initializer instead.
    /// - Parameter session: The session. It refreshes the token when necessary.
    /// - Returns: The copy. Both clients share the transport, the gates, the circuits and the cache.
    public func authorized(by session: Session) -> APIClient { authorized(by: AuthorizeMiddleware(session)) }

    /// Returns a copy of the client like ``authorized(by:)``, whose calls belong to the session with the given credentials. If this session
    /// has ended, or if another session has begun, the calls fail with the kind `unauthorized`. A refresh of the token changes nothing.
    /// - Parameters:
    ///   - session: The session. It refreshes the token when necessary.
    ///   - credentials: Credentials that the session returned.
    package func authorized(by session: Session, with credentials: Credentials) -> APIClient {
        var layer = AuthorizeMiddleware(session)
        layer.sessionID = credentials.sessionID
        return authorized(by: layer)
    }

    /// Returns a copy of the client with a further layer.
    private func authorized(by layer: AuthorizeMiddleware) -> APIClient {
        var client = self
        client.middleware.append(layer)
        client.clearStorage(with: layer)
        return client
    }

    /// Ensures that the cache removes the responses of a user when the user's session ends. Does nothing if the client has no cache, or if
    /// the layer is not an ``AuthorizeMiddleware``.
    private func clearStorage(with layer: any ClientMiddleware) {
        guard let storage, let session = (layer as? AuthorizeMiddleware)?.session else { return }
        session.onEnd(of: storage) { await $0.end($1, beginning: $2) }
    }

    /// The gates and the circuits of the client. A gate delays calls while a server requests a delay. A circuit stops calls to a failing
    /// endpoint. The app can end these delays early with ``ClientGates/reopen(host:)``.
    public var gates: ClientGates { ClientGates(middleware) }

    /// Sends a request. If the response is a success, returns the response with its body as bytes.
    ///
    /// Use this method for bodies that are not JSON, or if you need headers of the response. To get a value, use a verb such as
    /// ``get(_:query:headers:options:context:)``.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path relative to the base URL. It begins with a slash, may have a query, is percent-encoded and has no fragment.
    ///   - query: Items that are percent-encoded and appended to the query of the path.
    ///   - body: The body.
    ///   - headers: Further headers. `Accept` and `Accept-Language` replace the client's values. `Content-Type` replaces the content type
    ///     of `body`.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation, such as `user_login`. Errors of the call contain this name.
    /// - Throws: `APIError` if the status is not a success, or if no response is received. The method also throws this error if the body
    ///   of a success is an error, or a page of another server such as a proxy.
    public func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        query: [URLQueryItem] = [],
        body: RequestBody? = nil,
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> (response: HTTPResponse, body: [UInt8]) {
        try await call(Outgoing(method, path, query, headers, options, context, body: body)) { ($0.response, $0.bytes) }
    }
}

extension APIClient {
    /// A call that succeeded.
    struct Call {
        let context: CallContext
        let response: HTTPResponse
        let bytes: [UInt8]
        /// The unread body of a response that is streamed.
        var body = ResponseBody()
    }

    /// The arguments of a call.
    struct Outgoing {
        let method: HTTPRequest.Method
        /// The path with its query.
        let path: String
        let headers: HTTPFields
        let options: CallOptions
        /// The name of the operation.
        let name: String?
        var body: RequestBody?
        /// The settings of a response that can take longer than one attempt, such as a download. With `nil`, the client reads the whole
        /// response within the time of the attempt.
        var transfer: Exchange.Transfer?
        /// The identifier of the session to which the call is bound; `nil` to bind it to the session of its first attempt.
        var session: String?

        /// Creates the arguments of a call. The items of the query are percent-encoded and appended to the path.
        init(
            _ method: HTTPRequest.Method,
            _ path: String,
            _ query: [URLQueryItem],
            _ headers: HTTPFields,
            _ options: CallOptions,
            _ name: String?,
            body: RequestBody? = nil,
            transfer: Exchange.Transfer? = nil,
            session: String? = nil
        ) {
            self.method = method
            self.path = query.isEmpty ? path : path.appending(query)
            (self.headers, self.options, self.name) = (headers, options, name)
            (self.body, self.transfer, self.session) = (body, transfer, session)
        }
    }

    /// Builds the request of a call, sends it through the middleware, and returns the value that `read` makes from the response. If `read`
    /// throws an error, the call fails with this error.
    func call<Result>(_ outgoing: Outgoing, read: (Call) throws -> Result) async throws(APIError) -> Result {
        var request = try makeRequest(outgoing)
        let endpoint = routes.endpoint(of: request)
        var policy = policies[endpoint]
        outgoing.options.apply(to: &policy)
        try request.complete(outgoing.options, priority: policy.priority, context: outgoing.name)
        var exchange = exchange
        exchange.transfer = outgoing.transfer
        return try await call(
            request,
            body: outgoing.body,
            endpoint: endpoint,
            origin: base?.origin ?? "",
            policy: policy,
            context: outgoing.name,
            session: outgoing.session,
            exchange: exchange,
            read: read
        )
    }

    /// Sends a request through the middleware, and returns the value that `read` makes from the response. The request already has all
    /// headers of the call, and the policy already includes the options of the call.
    func call<Result>(
        _ request: HTTPRequest,
        body: RequestBody?,
        endpoint: Endpoint,
        origin: String,
        policy: EndpointPolicy,
        context name: String?,
        session: String? = nil,
        exchange: Exchange,
        read: (Call) throws -> Result
    ) async throws(APIError) -> Result {
        let record = CallRecord(name: name, endpoint: endpoint, environment: environment, listeners: listeners)
        let context = CallContext(
            name: name,
            origin: origin,
            endpoint: endpoint,
            policy: policy,
            deadline: record.begin + (policy.timeout ?? timeout),
            attemptTimeout: policy.attemptTimeout ?? attemptTimeout,
            environment: environment,
            record: record
        )
        do {
            let transfer = exchange.transfer
            if let session { _ = context.bind(session) }
            let chain = MiddlewareChain(
                middleware: middleware,
                keys: keys,
                storage: transfer == nil ? storage : nil,
                exchange: exchange
            )
            let (response, rest) = try await chain.start(request, body: body, context: context)
            // The status is read once, because HTTPTypes converts it from text.
            let status = response.status
            let bytes: [UInt8]
            if status.kind == .successful, transfer?.returnsStream == true {
                bytes = []
            } else if let whole = rest.whole(upTo: maximumBodySize) {
                bytes = whole
            } else {
                bytes = try await rest.collect(upTo: maximumBodySize).bytes
            }
            // A middleware can return its own response, even with an error status.
            let isSuccess = status.kind == .successful || (status == .notModified && request.isConditional)
            if !isSuccess { throw exchange.refusal(response, bytes: bytes, context: context) }
            let result = try read(Call(context: context, response: response, bytes: bytes, body: rest))
            context.record.close(nil)
            return result
        } catch {
            var error = APIError(error, isSafeToRepeat: request.isSafeToRepeat, context: name)
            if !error.body.isEmpty { error.makeBodyDecoder = coding.makeDecoder }
            (error.language, error.catalogue, error.serverTextLanguage) = (language, catalogue, serverTextLanguage)
            context.record.close(error, message: error.textWithoutServer(in: language, catalogue: catalogue))
            throw error
        }
    }

    /// The last step of a call, after all middleware: it sends the request to the transport.
    var exchange: Exchange {
        Exchange(transport: transport, catalogue: catalogue, maximumBodySize: maximumBodySize)
    }

    /// Decodes the value in the body of a successful response. The body is either the value itself, or an object that contains the value:
    /// `{"success":true,"data":{…}}`.
    /// - Throws: `APIError` of the kind `decoding`, with the status and the id of the request.
    func decoded<Value: Decodable>(_ call: Call) throws(APIError) -> Value {
        do {
            return try coding.makeDecoder().decode(SuccessEnvelope<Value>.self, from: Data(call.bytes)).value
        } catch {
            throw exchange.unreadable(call.response, error, context: call.context)
        }
    }

    /// Encodes a value as JSON, and returns it as the body of a request; `nil` if there is no value.
    /// - Throws: `APIError` with the kind `invalidRequest` if the value can't be encoded.
    package func json<Body: Encodable>(_ body: Body?, context: String?) throws(APIError) -> RequestBody? {
        guard let body else { return nil }
        do {
            return RequestBody([UInt8](try coding.makeEncoder().encode(body)), contentType: "application/json")
        } catch {
            var refused = APIError(error, context: context)
            (refused.kind, refused.code, refused.attempts) = (.invalidRequest, .invalidRequest, 0)
            throw refused
        }
    }

    /// Builds the request of a call, with the client's headers and the headers of the call.
    /// - Throws: `APIError` of the kind `invalidRequest` if the base URL or the path is invalid.
    func makeRequest(_ outgoing: Outgoing) throws(APIError) -> HTTPRequest {
        guard let base, var request = blank, BaseAddress.isPath(outgoing.path) else {
            throw APIError(.invalidRequest, context: outgoing.name)
        }
        let headers = outgoing.headers
        request.method = outgoing.method
        request.path = base.prefix.isEmpty ? outgoing.path : base.prefix + outgoing.path
        if !headers.isEmpty {
            // The headers of the call replace the defaults.
            if headers.contains(.accept) { request.headerFields[.accept] = nil }
            if headers.contains(.acceptLanguage) { request.headerFields[.acceptLanguage] = nil }
            request.headerFields.append(contentsOf: headers)
        }
        if let body = outgoing.body, !headers.contains(.contentType) {
            request.headerFields[.contentType] = body.contentType
        }
        return request
    }
}

extension HTTPRequest {
    /// Adds `Idempotency-Key` if the caller passed a key in the options, and `Priority` if the priority is not normal.
    mutating func complete(_ options: CallOptions, priority: CallPriority, context: String?) throws(APIError) {
        if case .key(let key) = options.idempotency {
            let isValid =
                (1...255).contains(key.utf8.count)
                && key.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
            guard isValid else { throw APIError(.invalidRequest, context: context) }
            headerFields[.idempotencyKey] = "\"\(key)\""
        }
        if priority != .normal, !headerFields.contains(.priority) { headerFields[.priority] = priority.fieldValue }
    }

    /// Creates a request to the root of a base address, with the headers that all requests of the client have.
    fileprivate init(base: BaseAddress, language: Language) {
        self.init(
            method: .get,
            scheme: base.scheme,
            authority: base.authority,
            path: "/",
            headerFields: [
                .accept: "application/json, application/problem+json;q=0.9", .acceptLanguage: language.rawValue,
            ]
        )
    }
}
