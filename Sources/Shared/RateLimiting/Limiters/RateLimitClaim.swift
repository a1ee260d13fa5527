import Synchronization

/// What one request asks of one policy: units for a key.
public struct RateLimitClaim: Sendable {
    /// The policy's name.
    public var policy: String
    /// Whom the request counts for.
    public var key: any PartitionKey
    /// How many units the request takes; the policy's cost if `nil`.
    public var cost: Int?
    /// The networks of the client that makes the request, for policies that count them, see ``WideLimits``; `nil` if it has none.
    public var networks: ClientNetworks?
    /// Whether the units can be refunded after the admission, see ``RateLimitCharge``.
    public var isRefundable: Bool

    /// Creates a claim.
    /// - Parameters:
    ///   - policy: The policy's name.
    ///   - key: Whom the request counts for.
    ///   - cost: How many units it takes; the policy's cost if `nil`.
    ///   - networks: The networks of the client that makes the request.
    ///   - isRefundable: Whether the units can be refunded after the admission.
    /// - Precondition: `cost` is positive.
    public init(
        _ policy: String,
        key: any PartitionKey,
        cost: Int? = nil,
        networks: ClientNetworks? = nil,
        isRefundable: Bool = false
    ) {
        if let cost { requireCost(cost) }
        (self.policy, self.key, self.cost, self.networks) = (policy, key, cost, networks)
        self.isRefundable = isRefundable
    }

    /// Creates a claim on a policy that counts all requests together.
    /// - Precondition: `cost` is positive.
    public init(_ policy: String, cost: Int? = nil) {
        self.init(policy, key: 0 as UInt64, cost: cost)
    }
}

/// What an admission charged to the claims that are refundable.
///
/// Use it to reserve units before an expensive step, and to return them if the step did not happen:
///
/// ```swift
/// let claim = RateLimitClaim("login-account", key: account, isRefundable: true)
/// let answer = limiter.admit([claim])
/// guard answer.isAdmitted else { return refuse(answer) }
/// if try await !checkPassword(), let charge = answer.charge { limiter.refund(charge) }
/// ```
///
/// Each policy's part can be refunded once, however many tasks try. A charge that is not refunded stays counted.
public final class RateLimitCharge: Sendable {
    /// The charge of one policy.
    package struct Part: Sendable {
        /// The policy of the claim.
        package var policy: String
        /// What was charged.
        package var charged: Charged

        /// Creates a part.
        package init(policy: String, charged: Charged) {
            (self.policy, self.charged) = (policy, charged)
        }
    }

    /// What a store charged.
    package enum Charged: Sendable {
        /// One key of a ``JointRateLimiter``.
        case key(KeyCharge)
        /// Whatever another store needs in order to refund it.
        case other(any Sendable)
    }

    /// The charge of one key in memory.
    package struct KeyCharge: Sendable {
        /// The number of the table: that of the policy, or of a network of the client.
        var table: Int
        var key: KeyDigest
        var charge: WindowCharge
    }

    private let parts: Mutex<[Part]>

    package init(_ parts: [Part]) {
        self.parts = Mutex(parts)
    }

    /// The policies that still can be refunded.
    public var policies: Set<String> { parts.withLock { Set($0.map(\.policy)) } }

    /// Takes the parts to refund out, so that no second refund finds them.
    package func take(under policies: Set<String>?) -> [Part] {
        parts.withLock { parts in
            defer { parts.removeAll { policies?.contains($0.policy) ?? true } }
            return parts.filter { policies?.contains($0.policy) ?? true }
        }
    }
}

extension RateLimitCharge: Hashable {
    public static func == (one: RateLimitCharge, other: RateLimitCharge) -> Bool { one === other }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
