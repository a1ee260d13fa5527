/// The behavior of a policy while the server of the limits is slow or unavailable.
///
/// Choose it by the purpose of the policy:
///
/// - ``closed`` if a missing limit is worse than an outage, such as for failed sign-ins.
/// - ``open`` if the policy only protects against load.
/// - ``local(share:)`` for all other policies.
public enum ValkeyFallback: Hashable, Sendable {
    /// Requests that claim the policy fail with the server's error. If the policy is in shadow mode, this process counts them instead.
    case closed
    /// Requests are admitted, and not counted under the policy.
    case open
    /// Each process separately admits a share of the quota.
    ///
    /// The share is from 0 to 1. At least one unit is admitted. If the share is 1 divided by the number of processes, all processes
    /// together admit at most the quota. This requires that the share of the quota is at least one unit.
    case local(share: Double)

    /// The part of the quota that this process enforces separately, from 0 to 1. It also limits the additional admissions by this process
    /// after the server has lost its data.
    var share: Double {
        switch self {
        case .closed, .open: 1
        case .local(let share): min(1, max(0, share))
        }
    }
}
