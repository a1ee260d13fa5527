import ErrorContract
public import ErrorLabContract
public import Foundation
import HTTPTypes
public import Hummingbird
public import NIOCore
import Pages
public import ServerMiddleware

/// The error lab: routes that fail on demand, with which the author of an app tests its error handling.
///
/// Only for development: any client can make the server wait and break connections. Added in one line:
///
/// ```swift
/// try ErrorLabRoutes<AppContext>().add(to: router)
/// ```
///
/// The routes below the root are `answer`, which responds as its query specifies; `token`, `refresh` and `protected`, a session with
/// short-lived tokens; `limited`, a rate limit; `read`, which explains how a client reads a given response; `scenarios`, the list of
/// prepared calls; and a page for all of them. `ErrorLabContract` describes the parameters.
///
/// Its memory is bounded. A delay is at most two minutes, and ends when the client disconnects.
///
/// Create one value per server: each value has its own counts of calls, sessions of tokens and rate limits. They are in memory and start
/// empty after a restart. The routes are thread-safe.
public struct ErrorLabRoutes<Context: ErrorLabRequestContext>: Sendable {
    /// The path of the lab.
    private let root: String
    /// The accepted hosts of requests; any host if `nil`.
    private let hosts: Set<String>?
    /// Renders the errors of the contract in the format and the languages of the server.
    private let renderer: LabResponseRenderer
    /// The clock of delays, tokens and limits.
    private let time: LabTime
    /// The page of the lab, rendered for each request with a new nonce.
    private let page: LabPage

    /// Creates the routes.
    /// - Parameters:
    ///   - root: The path of the lab.
    ///   - renderer: The codes, the default format and the languages.
    ///   - hosts: The accepted hosts of requests, in lowercase and without brackets; any host if `nil`, as for a phone that reaches a
    ///     development machine over the network.
    ///   - clock: The clock of delays, tokens and limits.
    ///   - now: The wall clock.
    /// - Throws: An error if a built-in resource can't be read.
    public init<C: Clock>(
        root: String = LabPath.root,
        renderer: ContractErrorRenderer = ContractErrorRenderer(),
        hosts: Set<String>? = ["127.0.0.1", "localhost", "::1"],
        clock: C = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws where C.Duration == Duration {
        self.root = root
        self.hosts = hosts
        self.renderer = LabResponseRenderer(errors: renderer, families: try ForeignErrorBodies.load(), now: now)
        time = LabTime(clock, wall: now)
        page = try LabPage(root: root, catalogue: renderer.catalogue)
    }

    /// Adds the lab to a router. Errors of the lab's own routes have the form of the contract, also if the router has no middleware for
    /// them.
    ///
    /// Call it once per value: a second call creates new counts, which the first routes don't share.
    /// - Parameter router: The router, or a group of it.
    public func add(to router: some RouterMethods<Context>) {
        let lab = router.group(RouterPath(root))
            .add(middleware: ContractErrorMiddleware(renderer: renderer.errors))
            .add(middleware: HostGuardMiddleware(hosts: hosts))
        let responses = ResponseRoute<Context>(renderer: renderer, sessions: LabSessions(), time: time, root: root)
        let methods: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete, .options]
        for method in methods { lab.on(RouterPath(LabPath.response), method: method, use: responses.respond) }
        let tokens = TokenRoutes<Context>(store: LabTokenStore(time: time), renderer: renderer, time: time)
        lab.post(RouterPath(LabPath.token), use: tokens.open)
        lab.post(RouterPath(LabPath.refresh), use: tokens.refresh)
        lab.get(RouterPath(LabPath.protected), use: tokens.protected)
        lab.get(RouterPath(LabPath.limited), use: LimitedRoute<Context>(renderer: renderer, time: time).respond)
        let reading = ReadRoute<Context>(
            catalogue: renderer.errors.catalogue,
            localization: renderer.errors.localization,
            now: renderer.now
        )
        lab.post(RouterPath(LabPath.read), use: reading.read)
        lab.get(RouterPath(LabPath.scenarios)) { [root, renderer] _, _ in
            let listing = LabListing(scenarios: LabScenario.all(root: root, catalogue: renderer.errors.catalogue))
            return try BufferedResponse.json(encoding: listing).response
        }
        lab.get { [page] _, _ in
            let nonce = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
            var headers: HTTPFields = [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"]
            headers[.contentSecurityPolicy] = LabPage.policy(nonce: nonce)
            return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: page.html(nonce: nonce))))
        }
    }
}

/// A context with the connection of a request, so that the lab can break it.
///
/// A context that already stores its channel conforms without further code:
///
/// ```swift
/// struct AppContext: ErrorLabRequestContext {
///     var coreContext: CoreRequestContextStorage
///     let channel: any Channel
///     init(source: ApplicationRequestContextSource) {
///         (coreContext, channel) = (.init(source: source), source.channel)
///     }
/// }
/// ```
public protocol ErrorLabRequestContext: RequestContext {
    /// The connection, which the lab may close or reset.
    var channel: any Channel { get }
}

/// A context for servers without another one.
///
/// Use it for a router that only serves the lab. For a router with other routes, conform their context to ``ErrorLabRequestContext``.
public struct ErrorLabContext: ErrorLabRequestContext {
    /// The storage that Hummingbird needs for a request.
    public var coreContext: CoreRequestContextStorage
    /// The connection.
    public let channel: any Channel

    /// Creates a context.
    /// - Parameter source: The connection of the request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Refuses requests for other hosts than the given names of this machine. This prevents DNS rebinding: web pages whose host name resolves
/// to this machine must not use the lab.
struct HostGuardMiddleware<Context: RequestContext>: RouterMiddleware {
    /// The names in lowercase; any if `nil`.
    let hosts: Set<String>?

    /// Passes a request for an accepted host; otherwise, throws 404 as if there were no lab.
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let hosts { try request.requireHost { hosts.contains($0.name) } }
        return try await next(request, context)
    }
}
