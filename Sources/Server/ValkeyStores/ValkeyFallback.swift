/// The behavior of a policy while the Valkey server is slow or unavailable.
///
/// Choose the fallback by the purpose of the policy:
///
/// - ``closed`` if a missing limit is worse than an outage, such as for failed sign-ins.
/// - ``open`` if the policy only protects against load.
/// - ``local(share:)`` for all other policies.
public enum ValkeyFallback: Hashable, Sendable {
    /// The store throws the error of the server for all requests to which the policy applies. If the policy is in shadow mode, the store
    /// counts these requests in the memory of this process instead.
    case closed
    /// The policy admits all requests, and the store doesn't count them under the policy.
    case open
    /// Each process separately admits a share of the quota.
    ///
    /// The share is from 0 to 1. Each process admits at least one unit. With `n` processes and a share of `1/n`, all processes together
    /// admit at most the quota, provided that the share of each process is at least one unit and no request costs more than the share's
    /// burst. A request that costs more takes the whole burst of the share.
    case local(share: Double)

    /// The share of the quota that this process may admit without the server, from 0 to 1. After the server has lost its data, this process
    /// also admits at most this share.
    var share: Double {
        switch self {
        case .closed, .open: 1
        case .local(let share): min(1, max(0, share))
        }
    }
}
