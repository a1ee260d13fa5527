import ErrorContract
public import ErrorLabContract
public import Foundation
import HTTPTypes
public import Hummingbird
public import NIOCore
import Pages
public import ServerMiddleware

/// The error lab: answers that go wrong on demand, for the author of an app to try its error handling against.
///
/// For development only: whoever reaches it can make the server wait and break connections. Mounted in one line:
///
/// ```swift
/// try ErrorLabRoutes<AppContext>().add(to: router)
/// ```
///
/// All that it remembers is bounded; a wait is two minutes at most, and ends when the client goes.
public struct ErrorLabRoutes<Context: ErrorLabRequestContext>: Sendable {
    private let root: String
    private let hosts: Set<String>?
    private let renderer: LabResponseRenderer
    private let time: LabTime
    private let page: LabPage

    /// Prepares the lab.
    /// - Parameters:
    ///   - root: The path that it is mounted at.
    ///   - renderer: The codes, the usual form and the languages.
    ///   - hosts: The names of the machine in lowercase, without brackets, that requests must ask for; any if `nil`, as for a
    ///     phone that reaches a development machine over the network.
    ///   - clock: What waits, tokens and limits are measured on.
    ///   - now: The wall clock.
    /// - Throws: If what was built in can't be read.
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

    /// Adds the lab to a router.
    public func add(to router: some RouterMethods<Context>) {
        let lab = router.group(RouterPath(root))
            .add(middleware: ContractErrorMiddleware(renderer: renderer.errors))
            .add(middleware: HostGuardMiddleware(hosts: hosts))
        let responses = ResponseRoute<Context>(renderer: renderer, sessions: LabSessions(), time: time, root: root)
        let methods: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete, .options]
        for method in methods { lab.on(RouterPath(LabPath.answer), method: method, use: responses.answer) }
        let tokens = TokenRoutes<Context>(store: LabTokenStore(time: time), renderer: renderer, time: time)
        lab.post(RouterPath(LabPath.token), use: tokens.open)
        lab.post(RouterPath(LabPath.refresh), use: tokens.refresh)
        lab.get(RouterPath(LabPath.protected), use: tokens.protected)
        lab.get(RouterPath(LabPath.limited), use: LimitedRoute<Context>(renderer: renderer, time: time).answer)
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

/// A request's context that holds the connection that the request came on, so that the lab can break it.
public protocol ErrorLabRequestContext: RequestContext {
    /// The connection.
    var channel: any Channel { get }
}

/// A context for servers that have none of their own.
public struct ErrorLabContext: ErrorLabRequestContext {
    /// The storage that Hummingbird needs for a request.
    public var coreContext: CoreRequestContextStorage
    /// The connection.
    public let channel: any Channel

    /// Creates a context.
    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Answers requests for known names of the machine only: a web page whose name was made to point here must not use the lab
/// (DNS rebinding).
struct HostGuardMiddleware<Context: RequestContext>: RouterMiddleware {
    /// The names in lowercase; any if `nil`.
    let hosts: Set<String>?

    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let hosts { try request.requireHost { hosts.contains($0.name) } }
        return try await next(request, context)
    }
}
