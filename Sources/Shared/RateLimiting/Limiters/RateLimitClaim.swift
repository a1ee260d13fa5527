import Synchronization

/// A request's claim on one policy: a number of units for a key.
///
/// A ``JointRateLimiter`` decides about all claims of a request together.
public struct RateLimitClaim: Sendable {
    /// The policy's name.
    public var policy: String
    /// The key under which the request is counted.
    public var key: any PartitionKey
    /// The number of units; `nil` for the cost of the policy.
    public var cost: Int?
    /// The networks of the client, for policies with ``WideLimits``; `nil` if there are none.
    public var networks: ClientNetworks?
    /// Whether the units can be refunded after the admission. See ``RateLimitCharge``.
    public var isRefundable: Bool

    /// Creates a claim.
    /// - Parameters:
    ///   - policy: The policy's name.
    ///   - key: The key under which the request is counted.
    ///   - cost: The number of units; `nil` for the cost of the policy.
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

    /// Creates a claim on a policy that counts all requests under one key.
    ///
    /// Use this initializer for a limit that all clients share, such as the number of emails that the server sends in an hour.
    /// - Parameters:
    ///   - policy: The policy's name.
    ///   - cost: The number of units; `nil` for the cost of the policy.
    /// - Precondition: `cost` is positive.
    public init(_ policy: String, cost: Int? = nil) {
        self.init(policy, key: 0 as UInt64, cost: cost)
    }
}

/// The units that an admission charged for its refundable claims.
///
/// Use a charge to reserve units before an expensive step, and to refund the units if the step did not take place:
///
/// ```swift
/// let claim = RateLimitClaim("login-account", key: account, isRefundable: true)
/// let result = limiter.admit([claim])
/// guard result.isAdmitted else { return refuse(result) }
/// let isRight: Bool
/// do {
///     isRight = try await checkPassword()
/// } catch {
///     // The server did not check the password, for example because it is overloaded.
///     if let charge = result.charge { limiter.refund(charge) }
///     throw error
/// }
/// ```
///
/// Don't refund the units after a wrong password. Otherwise, the limit would allow any number of attempts.
///
/// The units of each policy can be refunded only once, even if several tasks try. Units that are not refunded stay counted.
public final class RateLimitCharge: Sendable {
    /// The charge of one policy.
    package struct Part: Sendable {
        /// The policy of the claim.
        package var policy: String
        /// The units that were charged.
        package var charged: Charged

        /// Creates the charge of one policy.
        package init(policy: String, charged: Charged) {
            (self.policy, self.charged) = (policy, charged)
        }
    }

    /// The values that a store needs to refund its own charge.
    package enum Charged: Sendable {
        /// The charge of one key of a ``JointRateLimiter``.
        case key(KeyCharge)
        /// The values that another store needs for a refund.
        case other(any Sendable)
    }

    /// The charge of one key in memory.
    package struct KeyCharge: Sendable {
        /// The index of the charged table: the policy's own table, or the table of one of its networks.
        var table: Int
        var key: KeyDigest
        var charge: WindowCharge
    }

    private let parts: Mutex<[Part]>

    package init(_ parts: [Part]) {
        self.parts = Mutex(parts)
    }

    /// The names of the policies that can still be refunded.
    public var policies: Set<String> { parts.withLock { Set($0.map(\.policy)) } }

    /// Removes and returns the parts of the charge that the caller refunds. A second call returns nothing for the same policies.
    /// - Parameter policies: The names of the policies; `nil` for all parts.
    package func take(under policies: Set<String>?) -> [Part] {
        parts.withLock { parts in
            defer { parts.removeAll { policies?.contains($0.policy) ?? true } }
            return parts.filter { policies?.contains($0.policy) ?? true }
        }
    }
}

extension RateLimitCharge: Hashable {
    /// Returns whether two values are the same charge. Charges of different admissions are never equal.
    public static func == (one: RateLimitCharge, other: RateLimitCharge) -> Bool { one === other }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
