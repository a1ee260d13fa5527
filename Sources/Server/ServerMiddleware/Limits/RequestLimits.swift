public import Hummingbird
import RateLimiting
import Synchronization

/// The state of the limits of one request. The middleware that claims writes it, and the one that adds the response fields reads it.
///
/// The context of a request has one; see ``LimitedRequestContext``. Apps only create it.
public final class RequestLimits: Sendable {
    private struct State {
        /// Claims of the middleware about which the route decides.
        var pending: [(limits: RateLimits, claims: [RateLimitClaim])] = []
        var limits: [RateLimitResult.Limit] = []
    }

    private let state = Mutex(State())

    /// Creates the state of a request about which nothing has been decided.
    public init() {}

    /// Adds claims that count when the route decides.
    func expect(_ claims: [RateLimitClaim], by limits: RateLimits) {
        state.withLock { $0.pending.append((limits, claims)) }
    }

    /// Removes and returns the claims that the middleware added.
    func takePending(of limits: RateLimits) -> [RateLimitClaim] {
        state.withLock { state in
            let claims = state.pending.filter { $0.limits === limits }.flatMap(\.claims)
            state.pending.removeAll { $0.limits === limits }
            return claims
        }
    }

    /// Records the state of limits after a decision. The last state of each policy is kept.
    func note(_ limits: [RateLimitResult.Limit]) {
        state.withLock { state in
            guard !state.limits.isEmpty else { return state.limits = limits }
            let names = Set(limits.map(\.policy.name))
            state.limits.removeAll { names.contains($0.policy.name) }
            state.limits += limits
        }
    }

    /// The state of the limits; `nil` if a claim is undecided.
    var known: RateLimitResult? {
        state.withLock { $0.pending.isEmpty ? RateLimitResult(limits: $0.limits) : nil }
    }

    /// Returns the state of the limits. Some claims may never have been decided, because the route failed before. For these, the current
    /// state is read from the store.
    func result() async -> RateLimitResult {
        let pending = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        for (limits, claims) in pending { note(await limits.peek(at: claims)) }
        return RateLimitResult(limits: state.withLock { $0.limits })
    }
}

/// The context of requests that can be limited. It has the address of the connection's peer and stores the state of the limits.
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
    /// The state of the limits of this request. Create a new one for each request.
    var limits: RequestLimits { get }
}
