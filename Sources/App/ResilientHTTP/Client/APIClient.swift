public import ErrorContract
public import Foundation
public import HTTPTypes

/// Calls an API and returns values, or throws one typed error.
///
/// The status is looked at before the body. A success may be wrapped or flat; an error may have any of the contract's forms.
/// What is repeated, held back or refused by the client itself is the business of its ``ClientMiddleware``, of which
/// ``ClientPipeline/standard(retry:gate:throttle:breaker:)`` is the default.
public struct APIClient: Sendable {
    /// The address that paths are relative to.
    public let baseURL: URL
    /// The language that answers are asked for in.
    public var language: Language {
        didSet { blank = base.map { HTTPRequest(base: $0, language: language) } }
    }
    /// The language of the server's texts in errors whose response has no `Content-Language` of the user's language; `nil` if it is not known.
    ///
    /// A server's text is shown only if it is in the user's language. Set this for a backend that writes all its texts in one language.
    public var serverTextLanguage: Language?
    /// The time that a call may take, waits and the body of the answer included.
    public var timeout: Duration
    /// The time that one attempt may take, if the request may be repeated; one that may not has the whole time of the call.
    public var attemptTimeout: Duration = .seconds(10)
    /// The largest body of a success that is read, in bytes.
    public var maximumBodySize = 16 * 1024 * 1024
    /// The routes that the app knows, by which endpoints are told apart; what looks like an id in other paths is left out.
    public var routes: RouteTable
    /// What differs for single endpoints.
    public var policies: EndpointPolicies {
        didSet { for route in policies.routes { routes.add(route) } }
    }
    /// How values are written and read as JSON.
    public var coding: JSONCoding
    /// Stores responses that have an `ETag`, so that they are downloaded again only if they changed; `nil` for no storage.
    public var cache: (any ResponseCache)? {
        get { storage?.cache }
        set {
            storage = newValue.map { ResponseCacheMiddleware($0) }
            for layer in middleware { clearStorage(with: layer) }
        }
    }
    /// Who hears what happens in calls.
    public var listeners: [any CallListener] = []
    let base: BaseAddress?
    /// What all requests have in common; `nil` if the base URL is none.
    private var blank: HTTPRequest?
    private let transport: any HTTPTransport
    private var middleware: [any ClientMiddleware]
    /// Stands innermost, behind the session.
    private var storage: ResponseCacheMiddleware?
    /// The codes that the app knows, and its own words for them.
    public let catalogue: ErrorCatalogue
    /// Time, chance and log.
    public let environment: ClientEnvironment

    /// Creates a client.
    /// - Parameters:
    ///   - baseURL: The address that paths are relative to, with scheme and host.
    ///   - transport: The HTTP engine.
    ///   - language: The language that answers are asked for in.
    ///   - timeout: The time that a call may take.
    ///   - session: Whose access token calls carry; `nil` for none.
    ///   - policies: What differs for single endpoints.
    ///   - coding: How values are written and read as JSON.
    ///   - middleware: What stands between the client and the transport, the first outermost; the session's stands innermost.
    ///   - catalogue: The codes that the app knows.
    ///   - surroundings: Time, chance and log.
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
        self.catalogue = catalogue
        self.environment = environment
    }

    /// The same client, its calls carrying a session's access token.
    public func authorized(by session: Session) -> APIClient {
        var client = self
        client.middleware.append(AuthorizeMiddleware(session))
        client.clearStorage(with: AuthorizeMiddleware(session))
        return client
    }

    /// Has the stored responses of a session removed when it is over.
    private func clearStorage(with layer: any ClientMiddleware) {
        guard let storage, let session = (layer as? AuthorizeMiddleware)?.session else { return }
        session.onEnd(of: storage) { await $0.end($1) }
    }

    /// The gates and circuits of the client, to open them early.
    public var gates: ClientGates { ClientGates(middleware) }

    /// Sends a request and returns the response if it is a success, its body as bytes.
    ///
    /// Use it for bodies that are not JSON and for headers of the response; the verbs, such as ``get(_:query:headers:options:context:)``,
    /// return values.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path relative to the base URL. It begins with a slash, may have a query, is percent-encoded and has no fragment.
    ///   - query: Items that are percent-encoded and appended to the query of the path.
    ///   - body: The body.
    ///   - headers: Further headers. Of `Accept` and `Accept-Language` they replace the client's, of `Content-Type` the body's.
    ///   - options: How the call differs from the policy of its endpoint.
    ///   - context: Where in the app the call is made, such as `user_login`; it goes into the error.
    /// - Throws: `APIError` for every other status, for a success whose body is an error or a page of another server, and if no
    ///   response arrived.
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
        /// Where in the app the call is made.
        let name: String?
        var body: RequestBody?
        /// How the response is read; `nil` to read it whole within the time of the attempt.
        var transfer: Exchange.Transfer?

        init(
            _ method: HTTPRequest.Method,
            _ path: String,
            _ query: [URLQueryItem],
            _ headers: HTTPFields,
            _ options: CallOptions,
            _ name: String?,
            body: RequestBody? = nil,
            transfer: Exchange.Transfer? = nil
        ) {
            self.method = method
            self.path = query.isEmpty ? path : path.appending(query)
            (self.headers, self.options, self.name) = (headers, options, name)
            (self.body, self.transfer) = (body, transfer)
        }
    }

    /// Makes a call; what reads its response belongs to it, so that an unreadable one is a failed call.
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
            exchange: exchange,
            read: read
        )
    }

    /// Makes a call whose request and policy are complete.
    func call<Result>(
        _ request: HTTPRequest,
        body: RequestBody?,
        endpoint: Endpoint,
        origin: String,
        policy: EndpointPolicy,
        context name: String?,
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
            let chain = MiddlewareChain(middleware: middleware, storage: transfer == nil ? storage : nil, exchange: exchange)
            let (response, rest) = try await chain.pass(request, body: body, context: context)
            let bytes: [UInt8]
            if response.status.kind == .successful, transfer?.returnsStream == true {
                bytes = []
            } else if let whole = rest.whole(upTo: maximumBodySize) {
                bytes = whole
            } else {
                bytes = try await rest.collect(upTo: maximumBodySize).bytes
            }
            // A middleware may have answered by itself.
            let isSuccess = response.status.kind == .successful || (response.status == .notModified && request.isConditional)
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

    /// The innermost step of calls.
    var exchange: Exchange {
        Exchange(transport: transport, catalogue: catalogue, maximumBodySize: maximumBodySize)
    }

    func decoded<Value: Decodable>(_ call: Call) throws(APIError) -> Value {
        do {
            return try coding.makeDecoder().decode(SuccessEnvelope<Value>.self, from: Data(call.bytes)).value
        } catch {
            throw exchange.unreadable(call.response, error, context: call.context)
        }
    }

    /// The body with a value as JSON; `nil` for no value.
    func json<Body: Encodable>(_ body: Body?, context: String?) throws(APIError) -> RequestBody? {
        guard let body else { return nil }
        do {
            return RequestBody([UInt8](try coding.makeEncoder().encode(body)), contentType: "application/json")
        } catch {
            var refused = APIError(error, context: context)
            (refused.kind, refused.code, refused.attempts) = (.invalidRequest, .invalidRequest, 0)
            throw refused
        }
    }

    private func makeRequest(_ outgoing: Outgoing) throws(APIError) -> HTTPRequest {
        guard let base, var request = blank, BaseAddress.isPath(outgoing.path) else {
            throw APIError(.invalidRequest, context: outgoing.name)
        }
        let headers = outgoing.headers
        request.method = outgoing.method
        request.path = base.prefix.isEmpty ? outgoing.path : base.prefix + outgoing.path
        if !headers.isEmpty {
            // The call's own say what it accepts.
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
    /// Adds what the options of a call say in headers.
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

    /// A request to the root of a base address, with the headers that all have.
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
