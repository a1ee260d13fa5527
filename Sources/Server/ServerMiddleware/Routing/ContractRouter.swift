import HTTPTypes
public import Hummingbird

/// A router all of whose errors are answered in the contract.
///
/// ```swift
/// let router = ContractRouter(context: AppContext.self)
/// router.post("/notes") { request, context in try await save(request.decode(as: Note.self, context: context)) }
/// let application = Application(router: router, server: .contractHTTP1())
/// ```
/// What routes throw, unknown paths, wrong methods (405 with `Allow`), bodies that do not fit and routes that hang: each is one
/// answer with a code, a text in the reader's language and the request's id. With ``ContractRequestContext`` a body's problems are
/// told all at once, each with its place.
public struct ContractRouter<Context: RequestContext & Sendable>: RouterMethods, HTTPResponderBuilder {
    private let router: Router<Context>
    private let index: RouteIndex
    private let deadline: RequestDeadline?

    /// Creates a router.
    /// - Parameters:
    ///   - context: The context of requests.
    ///   - options: Options of the router.
    ///   - renderer: What puts errors into answers: the codes, the forms, the languages.
    ///   - deadline: The time that a route may take before it is answered for with `SERVER_TIMEOUT`; `nil` for any.
    ///   - outermost: Middleware that must see every answer as it is sent, errors too: CORS, access logs, security headers. What
    ///     is added later sees errors as they are thrown.
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
        // Together they take less than one after the other: the router calls what is added through closures.
        router.addMiddleware {
            RequestIDMiddleware()
            ContractErrorMiddleware(renderer: renderer, routes: index)
        }
    }

    /// The routes so far.
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

    /// Adds middleware around the routes that are added from now on, within the contract: what it throws is answered too.
    @discardableResult public func add(middleware: any MiddlewareProtocol<Request, Response, Context>) -> Self {
        router.add(middleware: middleware)
        return self
    }

    /// Called by `Application` once all routes are there.
    public func buildResponder() -> RouterResponder<Context> {
        let responder = router.buildResponder()
        index.fill(from: router)
        return responder
    }
}

/// Routes of any router whose errors are in the contract, while the router's other routes stay as they are.
///
/// Requests have ids and deadlines as in a ``ContractRouter``. the router itself responds to a path that no route has.
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
    ///   - group: A new group of the router.
    ///   - renderer: Renders errors.
    ///   - deadline: The time that a route may take; `nil` for no limit.
    ///   - outermost: Middleware that sees errors as responses.
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
        group.addMiddleware {
            RequestIDMiddleware(adoptsContextID: true)
            ContractErrorMiddleware(renderer: renderer)
        }
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

    /// Adds middleware around the routes that are added from now on, within the contract.
    @discardableResult public func add(middleware: any MiddlewareProtocol<Request, Response, Context>) -> Self {
        group.add(middleware: middleware)
        return self
    }
}

/// A context whose bodies are read by ``RequestReader``: `request.decode(as:context:)` takes JSON and forms, and tells every problem
/// of a body at once, each with its place, for any `Decodable` type.
///
/// ```swift
/// struct AppContext: ContractRequestContext {
///     var coreContext: CoreRequestContextStorage
///     init(source: Source) { coreContext = .init(source: source) }
/// }
/// ```
public protocol ContractRequestContext: RequestContext, Sendable where Decoder == RequestReader {}

extension ContractRequestContext {
    /// The largest body that is read, in bytes: 64 KiB unless the context says otherwise.
    public var maxUploadSize: Int { 65_536 }
    /// Reads bodies up to `maxUploadSize`.
    public var requestDecoder: RequestReader { RequestReader(maximumBodySize: maxUploadSize) }
}

/// The context of an app that keeps nothing of its own about a request.
public struct BasicContractContext: ContractRequestContext {
    public var coreContext: CoreRequestContextStorage

    public init(source: Source) {
        coreContext = .init(source: source)
    }
}

extension RouterMethods where Context: Sendable {
    /// Adds a route that may have a deadline.
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
