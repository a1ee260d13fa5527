public import HTTPTypes
import Synchronization
import Timekeeping

/// Stands between the client and the transport, and may read, change, delay or repeat a request, or respond to it itself: the other of
/// the client's two seams, with the shape of swift-openapi-runtime's middleware.
public protocol ClientMiddleware: Sendable {
    /// Handles one request.
    /// - Parameters:
    ///   - request: The head.
    ///   - body: The body, if there is one.
    ///   - context: The call that the request belongs to.
    ///   - next: Passes a request on towards the transport. It returns successes, their bodies whole; a refusal of the server
    ///     and a lost response are thrown as `APIError`.
    func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody)
}

/// The facts of one call, which all middleware get.
public final class CallContext: Sendable {
    /// Where in the app the call is made, such as `user_login`; it goes into the error.
    public let name: String?
    /// Scheme, host and port of the server, such as `https://api.example.org`.
    public let origin: String
    /// Method and route of the call, without ids.
    public let endpoint: Endpoint
    /// The policy of the endpoint.
    public let policy: EndpointPolicy
    /// When the call must have ended, on the clock of ``environment``.
    public let deadline: Duration
    /// The longest time of one attempt.
    public let attemptTimeout: Duration
    /// Time, chance and log.
    public let environment: ClientEnvironment
    /// The steps of the call so far.
    public let record: CallRecord
    private let boundSession = Mutex<String?>(nil)

    /// Creates a context.
    public init(
        name: String? = nil,
        origin: String,
        endpoint: Endpoint,
        policy: EndpointPolicy = EndpointPolicy(),
        deadline: Duration,
        attemptTimeout: Duration,
        environment: ClientEnvironment,
        record: CallRecord
    ) {
        self.name = name
        self.origin = origin
        self.endpoint = endpoint
        self.policy = policy
        self.deadline = deadline
        self.attemptTimeout = attemptTimeout
        self.environment = environment
        self.record = record
    }

    /// The time until the deadline; zero once it has passed.
    public var timeLeft: Duration { max(.zero, deadline - now) }

    /// The session that signed the first attempt of the call; `nil` if none did.
    var session: String? { boundSession.withLock(\.self) }

    /// Binds the call to a session unless it is bound already.
    /// - Returns: The session that the call is bound to.
    func bind(_ session: String) -> String {
        boundSession.withLock { bound in
            if let bound { return bound }
            bound = session
            return session
        }
    }

    /// The present instant, on the clock of ``environment``.
    var now: Duration { environment.clock.now }
}
