import Timekeeping
import Synchronization

/// What one call is about, handed through all middleware.
///
/// One reference, so that handing it on costs the same however much it holds.
public struct CallContext: Sendable {
    private final class Facts: Sendable {
        let name: String?
        let origin: String
        let endpoint: Endpoint
        let policy: EndpointPolicy
        let deadline: Duration
        let attemptTimeout: Duration
        let surroundings: ClientSurroundings
        let record: CallRecord
        /// The session that signed the first attempt of the call.
        let session = Mutex<String?>(nil)

        init(
            name: String?,
            origin: String,
            endpoint: Endpoint,
            policy: EndpointPolicy,
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
    }

    private let facts: Facts

    /// Where in the app the call is made, such as `user_login`; it goes into the error.
    public var name: String? { facts.name }
    /// Scheme, host and port of the server, such as `https://api.example.org`.
    public var origin: String { facts.origin }
    /// Method and route of the call, without ids.
    public var endpoint: Endpoint { facts.endpoint }
    /// What differs for the endpoint.
    public var policy: EndpointPolicy { facts.policy }
    /// When the call must have ended, on the clock of ``surroundings``.
    public var deadline: Duration { facts.deadline }
    /// The longest time of one attempt.
    public var attemptTimeout: Duration { facts.attemptTimeout }
    /// Time, chance and log.
    public var surroundings: ClientSurroundings { facts.surroundings }
    /// What has happened in the call so far.
    public var record: CallRecord { facts.record }

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
        facts = Facts(
            name: name,
            origin: origin,
            endpoint: endpoint,
            policy: policy,
            deadline: deadline,
            attemptTimeout: attemptTimeout,
            surroundings: surroundings,
            record: record
        )
    }

    /// The time until the deadline; zero once it has passed.
    public var timeLeft: Duration { max(.zero, deadline - now) }

    /// The session that signed the first attempt of the call; `nil` if none did.
    var session: String? { facts.session.withLock(\.self) }

    /// Binds the call to a session unless it is bound already.
    /// - Returns: The session that the call is bound to.
    func bind(_ session: String) -> String {
        facts.session.withLock { bound in
            if let bound { return bound }
            bound = session
            return session
        }
    }

    /// The present instant, on the clock of ``surroundings``.
    var now: Duration { facts.surroundings.clock.now }
}
