import AccountCore
import Foundation

extension AccountStoreCheck {
    /// Creates checks whose descriptions begin with `signing keys:`.
    private static let check = CheckBuilder(store: "signing keys")

    /// Checks of `SigningKeyStore`. A store returns each key with exactly the bytes and times that it received. If the closure of a change
    /// throws, the change has no effect. Concurrent changes are not lost.
    ///
    /// The checks use keys with arbitrary bytes, because a store must never interpret a sealed key. The times of the keys have fractions of
    /// a second.
    ///
    /// Common causes of failures:
    /// - *Stores keys as they are*: the store rounds times to seconds, or stores bytes as text.
    /// - *Returns the keys as they are stored*: the database rounds times, and the store returns the times of the change.
    /// - *Changes nothing if the change is refused*: the store deletes the old keys before it calls the closure, and doesn't do both in one
    ///   transaction.
    /// - *Applies twenty concurrent changes one after the other*: the store reads the keys before it locks them.
    public static let signingKeys: [AccountStoreCheck] = [
        check("Stores keys as they are, and shows every process the same") { stores in
            let (store, other) = (stores.signingKeys, stores.others.signingKeys)
            try require(try await store.signingKeys(), equals: SigningKeySet(), "The keys of a new store")
            let keys = SigningKeySet([.sample("a", retiredAfter: 0.25), .sample("b")])
            try require(try await store.changeSigningKeys { _ in keys }, equals: keys, "The new keys")
            try require(try await other.signingKeys(), equals: keys, "The keys that another process reads")
            let fewer = SigningKeySet(Array(keys.keys.dropFirst()))
            try require(try await other.changeSigningKeys { _ in fewer }, equals: fewer, "The keys without the first")
            try require(try await store.signingKeys(), equals: fewer, "The keys that this process reads")
        },
        check("Returns the keys as they are stored, even if the database rounds times") { stores in
            // A date has a finer resolution than its seconds since 1970.
            let time = Date.after(0).addingTimeInterval(0x1p-23)
            let new = try await stores.signingKeys.changeSigningKeys { stored in
                var keys = stored
                keys.start(with: .init(id: "a", sealed: Data([1])), at: time)
                return keys
            }
            try require(try await stores.signingKeys.signingKeys(), equals: new, "The keys that are read")
        },
        check("Changes nothing if the change is refused") { stores in
            let keys = SigningKeySet([.sample("a")])
            _ = try await stores.signingKeys.changeSigningKeys { _ in keys }
            try await requireFailure("The error of a change is thrown") {
                _ = try await stores.signingKeys.changeSigningKeys { _ in throw SigningKeyRefusal.unknown }
            }
            try require(try await stores.signingKeys.signingKeys(), equals: keys, "The keys after a refused change")
        },
        check("Applies twenty concurrent changes one after the other") { stores in
            _ = try await concurrently(20) { number in
                try await stores.either(number).signingKeys.changeSigningKeys { SigningKeySet($0.keys + [.sample("\(number)")]) }
            }
            let ids = try await stores.signingKeys.signingKeys().keys.map(\.id)
            try require(Set(ids).count, equals: 20, "The number of keys")
        },
    ]
}

extension SigningKey {
    /// Returns a key with arbitrary bytes, which can't sign.
    /// - Parameters:
    ///   - id: The id of the key. The sealed key contains the bytes of the id.
    ///   - seconds: The time at which the key was retired, in seconds after `Date.after(0)`; `nil` if the key is in use.
    fileprivate static func sample(_ id: String, retiredAfter seconds: TimeInterval? = nil) -> SigningKey {
        SigningKey(
            id: id,
            sealed: Data([0, 1, 0xFF]) + Data(id.utf8),
            createdAt: .after(0.125),
            signsFrom: .after(360.5),
            retiredAt: seconds.map { .after($0) }
        )
    }
}
