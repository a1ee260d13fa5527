/// How urgent a call is: when calls wait at the same gate or in the same line, those of a higher priority go first.
///
/// Priorities order calls that wait; they neither interrupt calls in flight nor admit more calls. Calls of the same priority go in the order
/// in which they arrived. A call whose priority is not ``normal`` carries it as `Priority: u=1` or `u=5` (RFC 9218), which `URLSession`
/// gets as the priority of its task.
public enum CallPriority: Int, Comparable, Sendable, CaseIterable {
    /// Work that no user waits for, such as a prefetch.
    case low
    /// Everything else.
    case normal
    /// Work that a user waits for while other calls are made for them.
    case high

    public static func < (left: CallPriority, right: CallPriority) -> Bool { left.rawValue < right.rawValue }

    /// The value of the header field `Priority`; `nil` for the default urgency.
    var fieldValue: String? {
        switch self {
        case .low: "u=5"
        case .normal: nil
        case .high: "u=1"
        }
    }
}
