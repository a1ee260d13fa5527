/// The behavior of a policy while the server of the limits is slow or unavailable.
///
/// Choose it by what the policy protects: `closed` if a missing limit is worse than an outage, such as for sign-in failures; `open` if it
/// only protects against load; `local` for everything in between.
public enum ValkeyFallback: Hashable, Sendable {
    /// Requests that claim the policy fail with the server's error.
    case closed
    /// Requests are not counted under the policy.
    case open
    /// Each process admits a share of the quota separately, from 0 to 1, but at least one unit. With 1 divided by the number of processes,
    /// all of them together admit at most the quota.
    case local(share: Double)

    /// The share of the quota that the process enforces separately. It also limits the additional admissions through this process after the
    /// server has lost its data.
    var share: Double {
        switch self {
        case .closed, .open: 1
        case .local(let share): min(1, max(0, share))
        }
    }
}
