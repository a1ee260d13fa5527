/// The behavior of a policy while the server of the limits is slow or unavailable.
///
/// Choose it by the purpose of the policy:
///
/// - ``closed`` if a missing limit is worse than an outage, such as for failed sign-ins.
/// - ``open`` if the policy only protects against load.
/// - ``local(share:)`` for everything in between.
public enum ValkeyFallback: Hashable, Sendable {
    /// Requests that claim the policy fail with the server's error. In shadow mode, they are counted in this process instead.
    case closed
    /// Requests are admitted, and not counted under the policy.
    case open
    /// Each process separately admits a share of the quota.
    ///
    /// The share is from 0 to 1, and at least one unit is admitted. With 1 divided by the number of processes, all processes together admit
    /// at most the quota, as long as the share is at least one unit.
    case local(share: Double)

    /// The share of the quota that the process enforces separately, from 0 to 1. It also limits the additional admissions through this
    /// process after the server has lost its data.
    var share: Double {
        switch self {
        case .closed, .open: 1
        case .local(let share): min(1, max(0, share))
        }
    }
}
