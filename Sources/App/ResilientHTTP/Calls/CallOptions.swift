/// How one call differs from the policy of its endpoint and from the client's defaults.
///
/// One option is a member, several are a list or a chain. A later option replaces an earlier one of the same kind.
///
/// ```swift
/// let page: Page = try await api.get("/orders", options: .waitsInLine)
/// let report: Report = try await api.get("/report", options: [.timeout(.seconds(90)), .waitsForConnectivity])
/// try await api.post("/orders", order, options: .idempotent.timeout(.seconds(10)))
/// ```
public struct CallOptions: Hashable, Sendable {
    /// The key by which a server recognizes a repeated request.
    public enum Idempotency: Hashable, Sendable {
        /// The client makes a key for the call and sends it with every attempt.
        case generated
        /// The caller's key, such as one that is stored with a draft so that it outlives the process. It has 1 to 255 characters of visible
        /// ASCII without quotes and backslashes; a call with any other key fails with the kind `invalidRequest`.
        case key(String)
    }

    /// The time that the call may take, waits and the body of the response included; `nil` for the endpoint's or the client's.
    public var timeout: Duration?
    /// The time that one attempt may take; `nil` for the endpoint's or the client's. A request that must not be repeated has the whole time
    /// of the call.
    public var attemptTimeout: Duration?
    /// How often and after which delays the call is repeated; `nil` for the endpoint's or the client's policy.
    public var retry: RetryPolicy?
    /// Whether the request carries an `Idempotency-Key`, which makes a POST or PATCH safe to repeat; `nil` for the endpoint's policy. The
    /// server must support keys.
    public var idempotency: Idempotency?
    /// How urgent the call is among those that wait; `nil` for the endpoint's policy.
    public var priority: CallPriority?
    /// Whether the call waits in line until its deadline when the server limits it; `nil` for the endpoint's policy.
    public var waitsInLine: Bool?
    /// Whether the call waits for a connection until its deadline; `nil` for the endpoint's policy.
    public var waitsForConnectivity: Bool?
    /// How the call uses the client's ``ResponseCache``; `nil` for the endpoint's policy.
    public var cache: CachePolicy?

    /// Creates options that change nothing.
    public init() {}
}

extension CallOptions {
    /// The call waits in line until its deadline when the server limits it or a gate is closed.
    public static let waitsInLine = CallOptions { $0.waitsInLine = true }
    /// The call waits for a connection until its deadline, instead of failing after a few retries.
    public static let waitsForConnectivity = CallOptions { $0.waitsForConnectivity = true }
    /// The request carries an `Idempotency-Key` that the client makes, so that it can be repeated. The server must support keys.
    public static let idempotent = CallOptions { $0.idempotency = .generated }

    /// The call may take so long.
    public static func timeout(_ timeout: Duration) -> CallOptions { CallOptions().timeout(timeout) }
    /// One attempt of the call may take so long.
    public static func attemptTimeout(_ timeout: Duration) -> CallOptions { CallOptions().attemptTimeout(timeout) }
    /// The call is repeated by this policy, such as `.never`.
    public static func retry(_ policy: RetryPolicy) -> CallOptions { CallOptions().retry(policy) }
    /// The request carries the caller's `Idempotency-Key`.
    public static func idempotencyKey(_ key: String) -> CallOptions { CallOptions().idempotencyKey(key) }
    /// The call has this priority among those that wait.
    public static func priority(_ priority: CallPriority) -> CallOptions { CallOptions().priority(priority) }

    /// The call uses the client's ``ResponseCache`` in this way.
    public static func cache(_ policy: CachePolicy) -> CallOptions { CallOptions().cache(policy) }

    /// The same options with a time that the call may take.
    public func timeout(_ timeout: Duration) -> CallOptions { with { $0.timeout = timeout } }
    /// The same options with a time that one attempt may take.
    public func attemptTimeout(_ timeout: Duration) -> CallOptions { with { $0.attemptTimeout = timeout } }
    /// The same options with a retry policy.
    public func retry(_ policy: RetryPolicy) -> CallOptions { with { $0.retry = policy } }
    /// The same options with the caller's `Idempotency-Key`.
    public func idempotencyKey(_ key: String) -> CallOptions { with { $0.idempotency = .key(key) } }
    /// The same options with a priority.
    public func priority(_ priority: CallPriority) -> CallOptions { with { $0.priority = priority } }
    /// The same options with a use of the client's ``ResponseCache``.
    public func cache(_ policy: CachePolicy) -> CallOptions { with { $0.cache = policy } }

    /// The same options, replaced by those that others set.
    public func merging(_ others: CallOptions) -> CallOptions {
        with { options in
            options.timeout = others.timeout ?? timeout
            options.attemptTimeout = others.attemptTimeout ?? attemptTimeout
            options.retry = others.retry ?? retry
            options.idempotency = others.idempotency ?? idempotency
            options.priority = others.priority ?? priority
            options.waitsInLine = others.waitsInLine ?? waitsInLine
            options.waitsForConnectivity = others.waitsForConnectivity ?? waitsForConnectivity
            options.cache = others.cache ?? cache
        }
    }

    private init(_ change: (inout CallOptions) -> Void) {
        self.init()
        change(&self)
    }

    private func with(_ change: (inout CallOptions) -> Void) -> CallOptions {
        var options = self
        change(&options)
        return options
    }

    /// The policy of a call with these options.
    func apply(to policy: inout EndpointPolicy) {
        if let timeout { policy.timeout = timeout }
        if let attemptTimeout { policy.attemptTimeout = attemptTimeout }
        if let retry { policy.retry = retry }
        if let priority { policy.priority = priority }
        if let waitsInLine { policy.waitsInLine = waitsInLine }
        if let waitsForConnectivity { policy.waitsForConnectivity = waitsForConnectivity }
        if let cache { policy.cache = cache }
        if case .generated = idempotency { policy.sendsIdempotencyKey = true }
    }
}

extension CallOptions: ExpressibleByArrayLiteral {
    /// Creates options from several ones, the later before the earlier.
    public init(arrayLiteral elements: CallOptions...) {
        self = elements.reduce(CallOptions()) { $0.merging($1) }
    }
}

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
