/// A call that an ``AdaptiveLimit`` let through, to be handed back when it has ended.
public struct AdmittedCall: Hashable, Sendable {
    let id: UInt64
    /// When it was let through, in nanoseconds.
    let sent: Int64
    /// How many calls had ended and counted by then.
    let endedBefore: Int
}

/// How a call ended, as far as a limit cares.
public enum CallEnd: Hashable, Sendable {
    /// The server answered, and took the call into account.
    /// - limits: What the answer says about the server's limits.
    /// - retryAfter: The time that the answer asks to wait, as a busy server does.
    case answered(limits: [ServerLimit] = [], retryAfter: Duration? = nil)
    /// The server refused the call because of a limit.
    case refused(limits: [ServerLimit] = [], retryAfter: Duration? = nil)
    /// No answer came; the server may have counted the call.
    case lost
    /// The call surely never reached the server, and that is the network's fault.
    case unreachable
    /// The call surely never left, for a reason that says nothing about the network.
    case withdrawn
    /// The caller gave up; the server may have counted the call.
    case abandoned
}
