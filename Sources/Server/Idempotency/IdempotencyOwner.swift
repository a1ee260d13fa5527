public import RateLimiting

/// The client to which an idempotency key belongs.
///
/// A key is only valid for its client. If two clients send the same `Idempotency-Key`, the store treats the values as two different keys,
/// so no client gets the response of another client. Each client also has its own share of the capacity of a store; see
/// ``IdempotencyBounds``.
///
/// Choose an identity that stays the same when the client repeats a request. For example, a phone can change its network between two
/// attempts. So the keys of authorized requests should belong to the account:
///
/// ```swift
/// router.group("/orders").idempotent(by: keys) { _, context in .account(context.account.id) }
/// ```
public enum IdempotencyOwner: Sendable {
    /// An authenticated account, identified by its id. Don't use the access token, because the client may have refreshed it between two
    /// attempts.
    case account(any PartitionKey)
    /// A secret that the server has issued and that the request contains, such as the token of a link in an email. Don't use values that a
    /// client can choose, because each value would get its own share of the capacity of accounts. The store treats a secret and an address
    /// with equal values as the same client.
    case secret(any PartitionKey)
    /// The network address of an unauthenticated request, and the network that contains it, such as its /24 or /48. The more bytes the
    /// other addresses of the network use, the smaller the address's share of the capacity is.
    case address(any PartitionKey, network: any PartitionKey)

    /// The value whose digest identifies the client. Of the three kinds of clients, only accounts have a prefix. Earlier versions used no
    /// prefix for addresses and secrets, and the server must still find the keys that these versions stored.
    var key: any PartitionKey {
        switch self {
        case .account(let id): PrefixedKey(prefix: "account", key: id)
        case .secret(let key), .address(let key, _): PrefixedKey(prefix: nil, key: key)
        }
    }

    /// The value whose digest identifies the network; `nil` if the client is not an address.
    var network: (any PartitionKey)? {
        guard case .address(_, let network) = self else { return nil }
        return PrefixedKey(prefix: "network", key: network)
    }
}

/// A partition key with a prefix for its kind, so that an account and a network with equal values have different digests.
private struct PrefixedKey: PartitionKey {
    let prefix: String?
    let key: any PartitionKey

    /// Passes the parts of the owner to the hasher.
    func hash(into hasher: inout KeyHasher) {
        // Without a prefix, hash the number 1 before the key, as earlier versions did.
        if let prefix { prefix.hash(into: &hasher) } else { hasher.combine(1) }
        key.hash(into: &hasher)
    }
}
