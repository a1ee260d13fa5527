/// Settings of one call. They take precedence over the policy of the endpoint and over the client's defaults.
///
/// Pass one option as a static member, and several options as an array or a chain. If an option occurs twice, the later one applies.
///
/// ```swift
/// let page: Page = try await api.get("/orders", options: .waitsInLine)
/// let report: Report = try await api.get("/report", options: [.timeout(.seconds(90)), .waitsForConnectivity])
/// try await api.post("/orders", order, options: .idempotent.timeout(.seconds(10)))
/// ```
public struct CallOptions: Hashable, Sendable {
    /// The key by which a server recognizes that a request is a retry.
    public enum Idempotency: Hashable, Sendable {
        /// The client generates a key for the call and sends it with every attempt.
        case generated
        /// A key of the caller, such as a key that is stored with a draft and therefore outlives the process. The key must have 1 to 255
        /// characters of visible ASCII without quotes and backslashes. With any other key, the call fails with the kind `invalidRequest`.
        case key(String)
    }

    /// The maximum duration of the call, including delays and the body of the response; `nil` to use the timeout of the endpoint or the
    /// client.
    public var timeout: Duration?
    /// The maximum duration of one attempt; `nil` to use the timeout of the endpoint or the client. The limit applies only if the request
    /// is safe to repeat and its body is in memory. For any other request, only the limit of the call applies.
    public var attemptTimeout: Duration?
    /// The number of retries and the delays between them; `nil` for the policy of the endpoint or the client.
    public var retry: RetryPolicy?
    /// Determines the `Idempotency-Key` of the request, which makes a POST or PATCH safe to retry; `nil` for the endpoint's policy. The
    /// server must support the key.
    public var idempotency: Idempotency?
    /// The priority of the call; `nil` for the endpoint's policy. If several calls wait, calls with a higher priority proceed first.
    public var priority: CallPriority?
    /// Whether the call waits until its deadline if the server limits the rate of requests; `nil` for the endpoint's policy.
    public var waitsInLine: Bool?
    /// Whether the call waits until its deadline for a connection if the device has none; `nil` for the endpoint's policy.
    public var waitsForConnectivity: Bool?
    /// How the call uses the client's ``ResponseCache``; `nil` for the endpoint's policy.
    public var cache: CachePolicy?
    /// How the call is stored in an `OfflineQueue` when it can't be sent; `nil` for the endpoint's policy.
    public var queueing: QueueingPolicy?
    /// The account whose tokens the call must use. If `nil`, the call uses the account that is signed in.
    package var account: String?
    /// Whether the call carries the session's token; `nil` for the endpoint's policy.
    package var isAuthorized: Bool?

    /// Creates options that change nothing.
    public init() {}
}

extension CallOptions {
    /// Makes the call wait until its deadline if the server limits the rate of requests or requests a delay.
    public static let waitsInLine = CallOptions { $0.waitsInLine = true }
    /// Makes the call wait for a connection until its deadline if the device has none. By default, the call fails after a few retries.
    public static let waitsForConnectivity = CallOptions { $0.waitsForConnectivity = true }
    /// Sends an `Idempotency-Key` that the client generates, so that the client can retry the call. The server must support the key.
    public static let idempotent = CallOptions { $0.idempotency = .generated }

    /// Limits the duration of the call.
    /// The limit includes all attempts, the delays between them, and the body of the response.
    /// - Parameter timeout: The maximum duration, from the call to the last byte of the response's body. With zero or less, the call fails
    ///   with the kind `timeout`, and no request is sent.
    public static func timeout(_ timeout: Duration) -> CallOptions { CallOptions().timeout(timeout) }
    /// Limits the duration of one attempt of the call. If a connection hangs, the limit ends the attempt early, so that enough time is left
    /// for a retry. The limit applies only to requests that are safe to repeat and have their body in memory.
    /// - Parameter timeout: The maximum duration of one attempt; positive. An attempt also ends at the deadline of the call.
    public static func attemptTimeout(_ timeout: Duration) -> CallOptions { CallOptions().attemptTimeout(timeout) }
    /// Sets the number of retries and the delays between them. For example, `.retry(.never)` allows only one attempt.
    /// - Parameter policy: The policy, which replaces the policies of the endpoint and of the client as a whole.
    public static func retry(_ policy: RetryPolicy) -> CallOptions { CallOptions().retry(policy) }
    /// Sends the given `Idempotency-Key` with the request. Use this option instead of ``idempotent`` if the app must know the key after a
    /// restart, for example to store the key with a draft.
    /// - Parameter key: 1 to 255 characters of visible ASCII, without quotes and backslashes.
    public static func idempotencyKey(_ key: String) -> CallOptions { CallOptions().idempotencyKey(key) }
    /// Sets the priority of the call. If several calls wait, calls with a higher priority proceed first.
    /// - Parameter priority: The priority. With a priority other than `.normal`, the request also has the header `Priority`.
    public static func priority(_ priority: CallPriority) -> CallOptions { CallOptions().priority(priority) }

    /// Determines how the call uses the client's ``ResponseCache``.
    /// - Parameter policy: Determines whether the client uses and stores responses. Without a cache in the client, the policy has no
    ///   effect.
    public static func cache(_ policy: CachePolicy) -> CallOptions { CallOptions().cache(policy) }

    /// Stores the call in an `OfflineQueue` when the call can't be sent.
    /// - Parameters:
    ///   - lane: The lane of the queue. The queue sends the requests of one lane one after another.
    ///   - lifetime: The time after which the queue no longer sends the request; `nil` for the default of the queue.
    ///   - coalescingKey: A key that groups requests of the lane. A later request with the same key replaces an earlier request that was
    ///     not sent yet. With `nil`, the request replaces no other request.
    public static func queued(lane: String = "default", lifetime: Duration? = nil, coalescingKey: String? = nil) -> CallOptions {
        CallOptions { $0.queueing = QueueingPolicy(lane: lane, lifetime: lifetime, coalescingKey: coalescingKey) }
    }

    /// Returns these options with a maximum duration of the call.
    /// - Parameter timeout: The maximum duration, including all attempts, the delays between them, and the body of the response.
    public func timeout(_ timeout: Duration) -> CallOptions { with { $0.timeout = timeout } }
    /// Returns these options with a maximum duration of one attempt.
    /// - Parameter timeout: The maximum duration of one attempt; positive. The limit applies only to requests that are safe to repeat and
    ///   have their body in memory.
    public func attemptTimeout(_ timeout: Duration) -> CallOptions { with { $0.attemptTimeout = timeout } }
    /// Returns these options with a retry policy.
    /// - Parameter policy: The policy, which replaces the policies of the endpoint and of the client as a whole.
    public func retry(_ policy: RetryPolicy) -> CallOptions { with { $0.retry = policy } }
    /// Returns these options with the caller's `Idempotency-Key`.
    /// - Parameter key: 1 to 255 characters of visible ASCII, without quotes and backslashes. With any other key, the call fails with the
    ///   kind `invalidRequest`.
    public func idempotencyKey(_ key: String) -> CallOptions { with { $0.idempotency = .key(key) } }
    /// Returns these options with a priority.
    /// - Parameter priority: The priority of the call.
    public func priority(_ priority: CallPriority) -> CallOptions { with { $0.priority = priority } }
    /// Returns these options with a policy for the client's ``ResponseCache``.
    /// - Parameter policy: Determines whether the client uses and stores responses. Without a cache in the client, the policy has no
    ///   effect.
    public func cache(_ policy: CachePolicy) -> CallOptions { with { $0.cache = policy } }

    /// Returns these options combined with other options. If both values set an option, the value of the argument applies.
    /// - Parameter others: The options that take precedence. An option that is `nil` in this argument changes nothing.
    /// - Returns: The combined options. Neither of the two values is changed.
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
            options.queueing = others.queueing ?? queueing
            options.account = others.account ?? account
            options.isAuthorized = others.isAuthorized ?? isAuthorized
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

    /// Applies the options to the policy of a call.
    func apply(to policy: inout EndpointPolicy) {
        if let timeout { policy.timeout = timeout }
        if let attemptTimeout { policy.attemptTimeout = attemptTimeout }
        if let retry { policy.retry = retry }
        if let priority { policy.priority = priority }
        if let waitsInLine { policy.waitsInLine = waitsInLine }
        if let waitsForConnectivity { policy.waitsForConnectivity = waitsForConnectivity }
        if let cache { policy.cache = cache }
        if let queueing { policy.queueing = queueing }
        if let account { policy.account = account }
        if let isAuthorized { policy.isAuthorized = isAuthorized }
        if case .generated = idempotency { policy.sendsIdempotencyKey = true }
    }
}

extension CallOptions: ExpressibleByArrayLiteral {
    /// Creates options from an array of options. Later options replace earlier ones.
    /// - Parameter elements: The options, in ascending order of precedence.
    public init(arrayLiteral elements: CallOptions...) {
        self = elements.reduce(CallOptions()) { $0.merging($1) }
    }
}

/// The priority of a call. If several calls wait for the same server or limit, the calls with a higher priority proceed first.
///
/// Priorities only order waiting calls. A priority doesn't interrupt calls in flight and doesn't admit more calls. Calls of the same
/// priority proceed in the order of their arrival. If the priority is not ``normal``, the request has the header `Priority: u=1` or `u=5`
/// (RFC 9218). The `URLSession` transport also sets the priority of its task.
public enum CallPriority: Int, Comparable, Sendable, CaseIterable {
    /// Work that no user waits for, such as a prefetch.
    case low
    /// The default.
    case normal
    /// Work that a user waits for while other calls run.
    case high

    /// Returns whether the left priority is lower than the right one.
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
