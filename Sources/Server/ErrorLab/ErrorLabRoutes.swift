import ErrorContract
public import ErrorLabContract
public import Foundation
import HTTPTypes
public import Hummingbird
public import NIOCore
import Pages
public import ServerMiddleware

/// The error lab: routes that fail on demand, with which the developers of an app test its error handling.
///
/// Use the lab only for development, because any client can make the server wait and break connections. One line adds the lab to a router:
///
/// ```swift
/// try ErrorLabRoutes<AppContext>().add(to: router)
/// ```
///
/// These routes are below the root:
///
/// - `answer` responds as its query specifies.
/// - `token`, `token/refresh` and `protected` provide a session with short-lived tokens.
/// - `limited` has a rate limit.
/// - `read` explains how a client reads the response that the request contains.
/// - `scenarios` lists prepared calls.
///
/// The root itself is a page that lists all routes. `ErrorLabContract` describes the parameters.
///
/// The memory of the lab is bounded. A delay is at most two minutes, and ends when the client disconnects.
///
/// Create one value for each server. ``add(to:)`` creates the counts of calls, the sessions and the rate limits. The lab stores them in
/// memory, so they are empty after a restart. The routes are thread-safe.
public struct ErrorLabRoutes<Context: ErrorLabRequestContext>: Sendable {
    /// The path of the lab.
    private let root: String
    /// The accepted hosts of requests; `nil` accepts any host.
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
    ///   - hosts: The accepted hosts of requests, in lowercase and without brackets. `nil` accepts any host. Use `nil` if, for example, a
    ///     phone calls the development machine over the network.
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

    /// Adds the lab to a router. The lab renders its errors in a format of the error contract, even if the router has no middleware that
    /// renders errors.
    ///
    /// Call this method only once for each value. A second call creates new counts, which the first routes don't share.
    /// - Parameter router: The router, or a group of it.
    public func add(to router: some RouterMethods<Context>) {
        let lab = router.group(RouterPath(root))
            .add(middleware: ContractErrorMiddleware(renderer: renderer.errors))
            .add(middleware: HostGuardMiddleware(hosts: hosts))
        let responses = ResponseRoute<Context>(renderer: renderer, sessions: LabSessions(), time: time)
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

/// A request context that contains the connection of the request, so that the lab can break the connection.
///
/// If a context already stores its channel, it conforms without further code:
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
    /// The connection. The lab may close or reset it.
    var channel: any Channel { get }
}

/// A request context for servers that have no other context.
///
/// Use this context for a router that only serves the lab. For a router with other routes, conform the context of these routes to
/// ``ErrorLabRequestContext``.
public struct ErrorLabContext: ErrorLabRequestContext {
    /// The storage that Hummingbird needs for a request.
    public var coreContext: CoreRequestContextStorage
    /// The connection.
    public let channel: any Channel

    /// Creates a context.
    /// - Parameter source: The connection of the request. The router of Hummingbird passes it for each request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// A middleware that refuses requests whose host is not one of the accepted names of this machine. This prevents DNS rebinding: an attack
/// in which a web page uses a host name that resolves to this machine.
struct HostGuardMiddleware<Context: RequestContext>: RouterMiddleware {
    /// The names in lowercase; `nil` accepts any name.
    let hosts: Set<String>?

    /// Passes a request for an accepted host to the next handler. For another host, the method throws 404, as if the lab didn't exist.
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let hosts { try request.requireHost { hosts.contains($0.name) } }
        return try await next(request, context)
    }
}
