import HTTPTypes
public import Hummingbird

/// A router whose error responses all have the same formats: the error contract.
///
/// ```swift
/// let router = ContractRouter(context: AppContext.self)
/// router.post("/notes") { request, context in try await save(request.decode(as: Note.self, context: context)) }
/// let application = Application(router: router, server: .contractHTTP1())
/// ```
///
/// The formats also apply to unknown paths, wrong methods (405 with `Allow`), invalid bodies, and routes that exceed their deadline. Each
/// error response has a code, a text in the client's language, and the id of the request. With ``ContractRequestContext``, a response
/// reports all problems of a body at once, each with its path.
///
/// Requests that are invalid HTTP never reach a router. The server `contractHTTP1` renders their errors.
///
/// To use the contract for only a part of an existing router, use ``ContractGroup``.
public struct ContractRouter<Context: RequestContext & Sendable>: RouterMethods, HTTPResponderBuilder {
    private let router: Router<Context>
    private let index: RouteIndex
    private var deadline: RequestDeadline?

    /// Creates a router.
    /// - Parameters:
    ///   - context: The type of the contexts of requests.
    ///   - options: The options of the router.
    ///   - renderer: Renders errors: their codes, formats and languages.
    ///   - deadline: The time after which the client gets `SERVER_TIMEOUT` instead of the response of the route; `nil` sets no limit.
    ///   - outermost: Middleware that must receive all responses in their final form, including error responses. Examples are CORS, access
    ///     logs, and security headers. Middleware that you add later receives thrown errors instead of error responses.
    public init(
        context: Context.Type,
        options: RouterOptions = [.autoGenerateHeadEndpoints],
        renderer: ContractErrorRenderer = ContractErrorRenderer(),
        deadline: RequestDeadline? = RequestDeadline(.seconds(30)),
        outermost: [any MiddlewareProtocol<Request, Response, Context>] = []
    ) {
        router = Router(context: context, options: options)
        index = RouteIndex(isCaseInsensitive: options.contains(.caseInsensitive))
        self.deadline = deadline
        for middleware in outermost { router.add(middleware: middleware) }
        router.add(middleware: ContractMiddleware(renderer: renderer, routes: index))
    }

    /// The same router, which adds routes without a deadline. Use it only for routes that limit their time themselves.
    package var withoutDeadline: ContractRouter {
        var router = self
        router.deadline = nil
        return router
    }

    /// The routes that have been added.
    public var routes: [Router<Context>.RouteDescription] { router.routes }

    /// Adds a route.
    @discardableResult public func on<Responder: HTTPResponder>(
        _ path: RouterPath,
        method: HTTPRequest.Method,
        responder: Responder
    ) -> Self where Responder.Context == Context {
        router.on(path, method: method, responder: responder, within: deadline)
        return self
    }

    /// Adds middleware around the routes that you add later. Errors of the middleware also get the formats of the router.
    @discardableResult public func add(middleware: any MiddlewareProtocol<Request, Response, Context>) -> Self {
        router.add(middleware: middleware)
        return self
    }

    /// Builds the responder, and fills the index of methods. `Application` calls this method after all routes have been added.
    public func buildResponder() -> RouterResponder<Context> {
        let responder = router.buildResponder()
        index.fill(from: router)
        return responder
    }
}

/// A group of routes in any router. The error responses of the group have the formats of a ``ContractRouter``. The other routes of the
/// router don't change.
///
/// As in a ``ContractRouter``, requests have ids and deadlines. If no route of the group matches a path below the group, the client gets
/// the response of the outer router.
///
/// ```swift
/// let contract = ContractGroup(in: router.group("/api")) { RateLimitFieldsMiddleware() }
/// contract.post("/notes", use: create)
/// ```
public struct ContractGroup<Context: RequestContext & Sendable>: RouterMethods {
    private let group: RouterGroup<Context>
    private let deadline: RequestDeadline?

    /// Creates a group.
    /// - Parameters:
    ///   - group: A new group of the router, without middleware and routes.
    ///   - renderer: Renders errors.
    ///   - deadline: The time that a route may take; `nil` sets no limit.
    ///   - outermost: Middleware that receives error responses instead of thrown errors, such as access logs.
    public init(
        in group: RouterGroup<Context>,
        renderer: ContractErrorRenderer = ContractErrorRenderer(),
        deadline: RequestDeadline? = RequestDeadline(.seconds(30)),
        @MiddlewareFixedTypeBuilder<Request, Response, Context> outermost: () -> some MiddlewareProtocol<
            Request, Response, Context
        >
    ) {
        self.group = group
        self.deadline = deadline
        group.add(middleware: outermost())
        group.add(middleware: ContractMiddleware(adoptsContextID: true, renderer: renderer))
    }

    /// Adds a route.
    @discardableResult public func on<Responder: HTTPResponder>(
        _ path: RouterPath,
        method: HTTPRequest.Method,
        responder: Responder
    ) -> Self where Responder.Context == Context {
        group.on(path, method: method, responder: responder, within: deadline)
        return self
    }

    /// Adds middleware around the routes that you add later. Errors of the middleware also get the formats of the group.
    @discardableResult public func add(middleware: any MiddlewareProtocol<Request, Response, Context>) -> Self {
        group.add(middleware: middleware)
        return self
    }
}

/// A request context with which ``RequestReader`` decodes bodies. With such a context, `request.decode(as:context:)` accepts JSON and forms
/// for any `Decodable` type. A response reports all problems of a body at once, each with its path.
///
/// ```swift
/// struct AppContext: ContractRequestContext {
///     var coreContext: CoreRequestContextStorage
///     init(source: Source) { coreContext = .init(source: source) }
/// }
/// ```
public protocol ContractRequestContext: RequestContext, Sendable where Decoder == RequestReader {}

extension ContractRequestContext {
    /// The largest body, in bytes. The default is 64 KiB. For another size, implement this property in the context.
    public var maxUploadSize: Int { 65_536 }
    /// A reader of bodies up to `maxUploadSize`.
    public var requestDecoder: RequestReader { RequestReader(maximumBodySize: maxUploadSize) }
}

/// A context for apps that store no further data about a request.
///
/// If middleware must pass data to routes, write a type that conforms to ``ContractRequestContext``. For rate limits, the type must also
/// conform to ``LimitedRequestContext``.
public struct BasicContractContext: ContractRequestContext {
    public var coreContext: CoreRequestContextStorage

    /// Creates the context of a request.
    public init(source: Source) {
        coreContext = .init(source: source)
    }
}

extension RouterMethods where Context: Sendable {
    /// Adds a route with an optional deadline.
    fileprivate func on<Responder: HTTPResponder>(
        _ path: RouterPath,
        method: HTTPRequest.Method,
        responder: Responder,
        within deadline: RequestDeadline?
    ) where Responder.Context == Context {
        if let deadline {
            on(path, method: method, responder: DeadlineResponder(base: responder, deadline: deadline))
        } else {
            on(path, method: method, responder: responder)
        }
    }
}
