public import Hummingbird
import RateLimiting
import Synchronization

/// The state of the limits of one request. ``RateLimitMiddleware`` writes the state, and ``RateLimitFieldsMiddleware`` reads the state for
/// the response fields.
///
/// The context of each request has its own `RequestLimits`; see ``LimitedRequestContext``. An app only creates the object.
public final class RequestLimits: Sendable {
    private struct State {
        /// The claims that the middleware added. The limits decide about them when the route calls `RateLimits.admit`.
        var pending: [(limits: RateLimits, claims: [RateLimitClaim])] = []
        var limits: [RateLimitResult.Limit] = []
    }

    private let state = Mutex(State())

    /// Creates the state of a request without decisions.
    public init() {}

    /// Adds claims that the limits decide about when the route calls `RateLimits.admit`.
    func expect(_ claims: [RateLimitClaim], by limits: RateLimits) {
        state.withLock { $0.pending.append((limits, claims)) }
    }

    /// Removes the claims that the middleware added, and returns them after the given claims.
    func takePending(of limits: RateLimits, after claims: [RateLimitClaim]) -> [RateLimitClaim] {
        state.withLock { state in
            // Most requests have no pending claims. Without this check, their claims would be copied.
            guard !state.pending.isEmpty else { return claims }
            let pending = state.pending.filter { $0.limits === limits }.flatMap(\.claims)
            state.pending.removeAll { $0.limits === limits }
            return claims + pending
        }
    }

    /// Records the state of limits after a decision. A later state of a policy replaces an earlier one.
    func note(_ limits: [RateLimitResult.Limit]) {
        state.withLock { state in
            guard !state.limits.isEmpty else { return state.limits = limits }
            let names = Set(limits.map(\.policy.name))
            state.limits.removeAll { names.contains($0.policy.name) }
            state.limits += limits
        }
    }

    /// The state of the limits; `nil` if there was no decision about some of the claims.
    var known: RateLimitResult? {
        state.withLock { $0.pending.isEmpty ? RateLimitResult(limits: $0.limits) : nil }
    }

    /// Returns the state of the limits. If the route fails early, there is no decision about some of the claims. For these claims, the
    /// method reads the current state from the store.
    ///
    /// The claims stay pending, because a route can continue after its deadline. If it then calls `RateLimits.admit`, the limits count
    /// these claims.
    func result() async -> RateLimitResult {
        let pending = state.withLock { $0.pending }
        for (limits, claims) in pending { note(await limits.peek(at: claims)) }
        return RateLimitResult(limits: state.withLock { $0.limits })
    }
}

/// The context of requests that can be limited. The context has the address of the connection's peer and the state of the limits.
///
/// ```swift
/// struct AppContext: LimitedRequestContext {
///     var coreContext: CoreRequestContextStorage
///     let remoteAddress: SocketAddress?
///     let limits = RequestLimits()
///
///     init(source: ApplicationRequestContextSource) {
///         coreContext = .init(source: source)
///         remoteAddress = source.channel.remoteAddress
///     }
/// }
/// ```
public protocol LimitedRequestContext: RemoteAddressRequestContext {
    /// The state of the limits of this request. Create a new state for each request.
    var limits: RequestLimits { get }
}
