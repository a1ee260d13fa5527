public import Hummingbird
import RateLimiting
import Synchronization

/// What the limits said of one request, from the middleware that claims to the one that writes the answer's fields.
public final class RequestLimits: Sendable {
    private struct State {
        /// What was claimed before the route, which decides.
        var pending: [(limits: RateLimits, claims: [RateLimitClaim])] = []
        var limits: [RateLimitResult.Limit] = []
    }

    private let state = Mutex(State())

    /// Creates the limits of a request about which nothing has been decided.
    public init() {}

    /// Adds claims that count when the route decides.
    func expect(_ claims: [RateLimitClaim], by limits: RateLimits) {
        state.withLock { $0.pending.append((limits, claims)) }
    }

    /// Takes what was claimed before the route.
    func takePending(of limits: RateLimits) -> [RateLimitClaim] {
        state.withLock { state in
            let claims = state.pending.filter { $0.limits === limits }.flatMap(\.claims)
            state.pending.removeAll { $0.limits === limits }
            return claims
        }
    }

    /// Notes how limits stand after a decision; of two states of one policy the later counts.
    func note(_ limits: [RateLimitResult.Limit]) {
        state.withLock { state in
            guard !state.limits.isEmpty else { return state.limits = limits }
            let names = Set(limits.map(\.policy.name))
            state.limits.removeAll { names.contains($0.policy.name) }
            state.limits += limits
        }
    }

    /// How the limits stand, if every claim has been decided.
    var known: RateLimitResult? {
        state.withLock { $0.pending.isEmpty ? RateLimitResult(limits: $0.limits) : nil }
    }

    /// How the limits stand. Those about which nothing was decided, because the route failed before, are looked at now.
    func answer() async -> RateLimitResult {
        let pending = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        for (limits, claims) in pending { note(await limits.peek(at: claims)) }
        return RateLimitResult(limits: state.withLock { $0.limits })
    }
}

/// The context of requests that can be limited: it knows the connection's peer, and keeps what the limits said.
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
    /// What the limits said of this request; a new one for each.
    var limits: RequestLimits { get }
}
