public import Hummingbird
public import RateLimiting

/// A policy's name, and whom a request counts for under it.
public struct RateLimitSource<Context: LimitedRequestContext>: Sendable {
    let claim: @Sendable (Request, Context, RateLimits) async throws -> RateLimitClaim?

    /// Each client on its own, by address, and the networks that it is in if the policy's rule counts them.
    public static func client(_ policy: String, cost: Int? = nil) -> RateLimitSource {
        RateLimitSource { request, context, limits in
            let client = limits.client(of: request, in: context)
            return RateLimitClaim(policy, key: client, cost: cost, networks: client.networks)
        }
    }

    /// All requests together.
    public static func everybody(_ policy: String, cost: Int? = nil) -> RateLimitSource {
        RateLimitSource { _, _, _ in RateLimitClaim(policy, cost: cost) }
    }

    /// Each key on its own, such as the account that a token speaks for.
    /// - Parameters:
    ///   - policy: The name of the policy.
    ///   - cost: The units that a request consumes; those of the policy if `nil`.
    ///   - key: The key, or `nil` if the policy doesn't apply to the request.
    public static func key(
        _ policy: String,
        cost: Int? = nil,
        _ key: @escaping @Sendable (Request, Context) async throws -> (any PartitionKey)?
    ) -> RateLimitSource {
        RateLimitSource { request, context, limits in
            try await key(request, context).map { key in
                let networks = limits.client(of: request, in: context).networks
                return RateLimitClaim(policy, key: key, cost: cost, networks: networks)
            }
        }
    }
}
