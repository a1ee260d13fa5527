public import HTTPTypes

/// What one call is about, handed through all middleware.
public struct CallContext: Sendable {
    /// Where in the app the call is made, such as `user_login`; it goes into the error.
    public let name: String?
    /// The endpoint: scheme, host and port, method, and the path without its query.
    public let endpoint: Endpoint
    /// When the call must have ended, on the clock of ``surroundings``.
    public let deadline: Duration
    /// The longest time of one attempt.
    public let attemptTimeout: Duration
    /// Time, chance and log.
    public let surroundings: ClientSurroundings
    /// What has happened in the call so far.
    public let record: CallRecord

    /// Creates a context.
    public init(
        name: String? = nil,
        endpoint: Endpoint,
        deadline: Duration,
        attemptTimeout: Duration,
        surroundings: ClientSurroundings,
        record: CallRecord
    ) {
        self.name = name
        self.endpoint = endpoint
        self.deadline = deadline
        self.attemptTimeout = attemptTimeout
        self.surroundings = surroundings
        self.record = record
    }

    /// The time until the deadline; zero once it has passed.
    public var timeLeft: Duration { max(.zero, deadline - surroundings.clock.now) }
}

/// Where a call goes.
public struct Endpoint: Hashable, Sendable {
    /// Scheme, host and port of the server, such as `https://api.example.org`.
    public var origin: String
    /// The method.
    public var method: HTTPRequest.Method
    /// The path without its query.
    public var path: String

    /// Creates an endpoint.
    public init(origin: String, method: HTTPRequest.Method, path: String) {
        self.origin = origin
        self.method = method
        self.path = path
    }
}
