public import HTTPTypes
import Synchronization
import Timekeeping

/// A layer between the client and the transport. It can read, change, delay or retry a request, or return a response itself.
///
/// To extend a client, implement this protocol, or ``HTTPTransport`` for another HTTP engine. The signature resembles the middleware of
/// swift-openapi-runtime.
///
/// ```swift
/// struct AppVersion: ClientMiddleware {
///     func intercept(
///         _ request: HTTPRequest,
///         body: RequestBody?,
///         context: CallContext,
///         next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
///     ) async throws -> (HTTPResponse, ResponseBody) {
///         var request = request
///         request.headerFields[.userAgent] = "Notes/2.1"
///         return try await next(request, body)
///     }
/// }
/// ```
public protocol ClientMiddleware: Sendable {
    /// Handles one request.
    /// - Parameters:
    ///   - request: The request without its body.
    ///   - body: The body, if there is one.
    ///   - context: The call that the request belongs to.
    ///   - next: Passes a request to the next layer. If the server responds with a success, the closure returns the response with its
    ///     complete body. Only the body of a streamed response has not been read yet. If the server refuses the request, or if no response
    ///     arrives, the closure throws an `APIError`.
    /// - Returns: A response of `next`, or a response that the middleware creates itself.
    /// - Throws: The error of the call. The client converts an error of any other type to an `APIError`.
    func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody)
}

/// The properties of one call. The client passes them to each middleware.
public final class CallContext: Sendable {
    /// The name of the operation, such as `user_login`; `nil` if the caller passed none. Errors contain the name.
    public let name: String?
    /// Scheme, host and port of the server, such as `https://api.example.org`.
    public let origin: String
    /// The method and the route of the call, such as `GET /orders/{id}`.
    public let endpoint: Endpoint
    /// The policy of the endpoint, with the options of the call already applied.
    public let policy: EndpointPolicy
    /// The deadline of the call, as a time on the clock of ``environment``.
    public let deadline: Duration
    /// The maximum duration of one attempt.
    public let attemptTimeout: Duration
    /// Clocks, randomness and logger.
    public let environment: ClientEnvironment
    /// The events of the call so far.
    public let record: CallRecord
    private let boundSession = Mutex<String?>(nil)

    /// Creates a context. The client creates the context of each call. A test of a middleware can also create one.
    /// - Parameters:
    ///   - name: The name of the operation, such as `user_login`; `nil` if the call has no name.
    ///   - origin: Scheme, host and port of the server, such as `https://api.example.org`.
    ///   - endpoint: The method and the route of the call.
    ///   - policy: The policy of the endpoint, with the options of the call already applied.
    ///   - deadline: The deadline of the call, as a time on the clock of `environment`, such as `environment.clock.now + .seconds(30)`.
    ///   - attemptTimeout: The maximum duration of one attempt.
    ///   - environment: Clocks, randomness and logger.
    ///   - record: The record of the call's events. Create it with the same endpoint and environment as the context.
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

    /// The time until the deadline; zero after the deadline has passed.
    public var timeLeft: Duration { max(.zero, deadline - now) }

    /// The session that authorized the first attempt of the call; `nil` if no session authorized it.
    var session: String? { boundSession.withLock(\.self) }

    /// Binds the call to the session that authorizes its first attempt. If the call is already bound to a session, nothing changes.
    ///
    /// - Returns: The session to which the call is bound.
    func bind(_ session: String) -> String {
        boundSession.withLock { bound in
            if let bound { return bound }
            bound = session
            return session
        }
    }

    /// The current instant on the clock of ``environment``.
    var now: Duration { environment.clock.now }
}
