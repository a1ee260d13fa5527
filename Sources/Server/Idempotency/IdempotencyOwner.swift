public import RateLimiting

/// The client that a key belongs to. Another client with the same key is another request.
///
/// Choose what stays the same when the client repeats a request. A phone changes its network between two attempts, so the keys of authorized
/// requests belong to the account:
///
/// ```swift
/// router.group("/orders").idempotent(by: keys) { _, context in .account(context.account.id) }
/// ```
public enum IdempotencyOwner: Sendable {
    /// An account that the request has proven, by its id. Never the token, which may have been refreshed between two attempts.
    case account(any PartitionKey)
    /// A secret that the server has issued and the request proves, such as the token of a link in an email.
    case secret(any PartitionKey)
    /// The network address of an unauthenticated request, and the wider network that it is in, such as its /24 or /48.
    case address(any PartitionKey, network: any PartitionKey)

    /// The key that is hashed. Those of addresses and secrets have no prefix, so that their keys from earlier versions are still found.
    var key: any PartitionKey {
        switch self {
        case .account(let id): PrefixedKey(prefix: "account", key: id)
        case .secret(let key), .address(let key, _): PrefixedKey(prefix: nil, key: key)
        }
    }

    var network: (any PartitionKey)? {
        guard case .address(_, let network) = self else { return nil }
        return PrefixedKey(prefix: "network", key: network)
    }
}

/// A key with the name of its kind, so that an account and a network that read alike are two.
private struct PrefixedKey: PartitionKey {
    let prefix: String?
    let key: any PartitionKey

    func hash(into hasher: inout KeyHasher) {
        if let prefix { prefix.hash(into: &hasher) } else { hasher.combine(1) }
        key.hash(into: &hasher)
    }
}
