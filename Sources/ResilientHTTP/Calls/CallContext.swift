/// What one call is about, handed through all middleware.
public struct CallContext: Sendable {
    /// Where in the app the call is made, such as `user_login`; it goes into the error.
    public let name: String?
    /// Scheme, host and port of the server, such as `https://api.example.org`.
    public let origin: String
    /// Method and route of the call, without ids.
    public let endpoint: Endpoint
    /// What differs for the endpoint.
    public let policy: EndpointPolicy
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
        origin: String,
        endpoint: Endpoint,
        policy: EndpointPolicy = EndpointPolicy(),
        deadline: Duration,
        attemptTimeout: Duration,
        surroundings: ClientSurroundings,
        record: CallRecord
    ) {
        self.name = name
        self.origin = origin
        self.endpoint = endpoint
        self.policy = policy
        self.deadline = deadline
        self.attemptTimeout = attemptTimeout
        self.surroundings = surroundings
        self.record = record
    }

    /// The time until the deadline; zero once it has passed.
    public var timeLeft: Duration { max(.zero, deadline - surroundings.clock.now) }
}
