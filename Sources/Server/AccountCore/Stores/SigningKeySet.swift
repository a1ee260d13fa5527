public import Foundation

/// A key pair that signs access tokens with ES256, as it is stored.
public struct SigningKey: Hashable, Sendable, Identifiable {
    /// Identifies the key in the header of a token (`kid`).
    public let id: String
    /// The private key, encrypted under the server's secret. See ``SigningKeySecrets``. If the key was refused with
    /// ``SigningKeySet/retireNow(_:replacedBy:at:)``, the private key is removed, and this value is a mark that can't be decrypted.
    public internal(set) var sealed: Data
    /// The time at which the key was created and published.
    public let createdAt: Date
    /// The time from which the key signs.
    public internal(set) var signsFrom: Date
    /// The time from which the key's tokens are refused; `nil` while no other key replaces this key.
    public internal(set) var retiredAt: Date?

    /// Creates a key from its stored values.
    public init(id: String, sealed: Data, createdAt: Date, signsFrom: Date, retiredAt: Date?) {
        self.id = id
        self.sealed = sealed
        self.createdAt = createdAt
        self.signsFrom = signsFrom
        self.retiredAt = retiredAt
    }

    /// A key pair that is not part of a set yet.
    public struct Material: Hashable, Sendable {
        /// The id of the key.
        public let id: String
        /// The encrypted private key.
        public let sealed: Data

        /// Creates the material of a key.
        public init(id: String, sealed: Data) {
            self.id = id
            self.sealed = sealed
        }
    }
}

/// The keys that sign access tokens, and the rules by which they replace one another.
///
/// From its creation until it is retired, a key is published, and verifiers accept its tokens. Among the published keys whose time
/// ``SigningKey/signsFrom`` has come, the key with the latest time signs new tokens. ``rotate(to:at:)`` publishes a new key before the key
/// signs, so that other services have time to fetch the key:
///
/// ```
/// now             now + 360 s                now + 1,320 s
///  | old key signs | old key is accepted only | old key is refused
///  | new key is published | new key signs …
/// ```
public struct SigningKeySet: Hashable, Sendable {
    /// The `max-age` of the published keys: other verifiers may use their copy for this time.
    public static let publicationAge = Duration.seconds(300)
    /// The time between the publication of a new key and its first signature.
    public static let publicationTime = publicationAge + .seconds(60)
    /// The time for which tokens of the old key are still accepted after another key has begun to sign. It is the lifetime of a token plus
    /// a minute. The minute allows for clocks that differ.
    public static let acceptanceTime = SessionRules().accessTokenLifetime + .seconds(60)
    /// The time for which a retired key stays in the set.
    static let listingTime = Duration.seconds(30 * 86_400)

    /// The keys in the order in which they sign.
    public private(set) var keys: [SigningKey]

    /// Creates a set from stored keys, in any order.
    public init(_ keys: [SigningKey] = []) {
        self.keys = keys.sorted { ($0.signsFrom, $0.createdAt, $0.id) < ($1.signsFrom, $1.createdAt, $1.id) }
    }

    /// The time at which the first key was created. Since this time, the server signs tokens with ES256.
    public var begin: Date? { keys.map(\.createdAt).min() }

    /// Returns the keys whose tokens are accepted at a time. These keys are also the published keys.
    public func accepted(at time: Date) -> [SigningKey] { keys.filter { $0.isAccepted(at: time) } }

    /// Returns whether tokens of a key are accepted at a time.
    /// - Parameters:
    ///   - id: The id of the key, from the header of a token.
    ///   - time: The time of the verification, by the wall clock.
    public func accepts(_ id: String, at time: Date) -> Bool {
        keys.contains { $0.id == id && $0.isAccepted(at: time) }
    }

    /// Returns the key that signs at a time. If the clock was set back to a time before all keys, the oldest key signs.
    public func signer(at time: Date) -> SigningKey? {
        let accepted = accepted(at: time)
        return accepted.last { $0.signsFrom <= time } ?? accepted.first
    }

    /// Returns the key that is published but does not sign yet. If there is such a key, ``rotate(to:at:)`` throws, because that key must
    /// first begin to sign.
    public func pending(at time: Date) -> SigningKey? {
        accepted(at: time).last { $0.signsFrom > time && $0.retiredAt == nil }
    }

    /// Adds a key that signs immediately. Use ``rotate(to:at:)`` while another key signs.
    public mutating func start(with material: SigningKey.Material, at time: Date) {
        add(material, createdAt: time, signsFrom: time)
    }

    /// Replaces the signing key. The new key is published immediately, and signs after ``publicationTime``. Tokens of the old key are
    /// accepted until the last of them has expired.
    /// - Throws: ``SigningKeyRefusal/pending(_:)`` if a new key is published and does not sign yet.
    public mutating func rotate(to material: SigningKey.Material, at time: Date) throws(SigningKeyRefusal) {
        if let pending = pending(at: time) { throw .pending(pending) }
        let change = time + Self.publicationTime
        for index in keys.indices where keys[index].retiredAt == nil {
            keys[index].retiredAt = change + Self.acceptanceTime
        }
        add(material, createdAt: time, signsFrom: change)
    }

    /// Retires a key. If the key signs, another key replaces it, and verifiers refuse the tokens of the retired key after the last of them
    /// has expired. If the key doesn't sign yet, it is retired immediately. If another key already replaces the key, nothing changes.
    /// - Parameters:
    ///   - id: The id of the key.
    ///   - material: A new key. The method uses it only if it is needed to replace the retired key.
    ///   - time: The time of the change.
    /// - Throws: ``SigningKeyRefusal`` if there is no such key, or if it is retired.
    public mutating func retire(_ id: String, replacedBy material: SigningKey.Material, at time: Date) throws(SigningKeyRefusal) {
        let key = try accepted(id, at: time)
        if key.signsFrom > time {
            try retireNow(id, replacedBy: material, at: time)
        } else if key.retiredAt == nil {
            try rotate(to: material, at: time)
        }
    }

    /// Refuses all tokens of a key immediately, for example because the private key has leaked. If this key signs new tokens, another key
    /// replaces it immediately.
    ///
    /// The method also removes the private key. So the tokens stay refused if the wall clock is later set back to a time before the change.
    /// - Parameters:
    ///   - id: The id of the key.
    ///   - material: A new key. The method uses it only if no other key can sign.
    ///   - time: The time of the change.
    /// - Throws: ``SigningKeyRefusal`` if there is no such key, or if its tokens are refused already.
    public mutating func retireNow(
        _ id: String,
        replacedBy material: SigningKey.Material,
        at time: Date
    ) throws(SigningKeyRefusal) {
        _ = try accepted(id, at: time)
        let signer = signer(at: time)
        change(id) { key in
            key.retiredAt = time
            key.sealed = SigningKey.removed
        }
        let lasting = keys.filter { $0.retiredAt == nil }
        if let signer, signer.id != id {
            // The retired key would have replaced the signing key. Because no other key can replace it, the signing key continues.
            if lasting.isEmpty { change(signer.id) { $0.retiredAt = nil } }
        } else if let next = lasting.first {
            change(next.id) { $0.signsFrom = min($0.signsFrom, time) }
        } else {
            start(with: material, at: time)
        }
        self = Self(keys)
    }

    private func accepted(_ id: String, at time: Date) throws(SigningKeyRefusal) -> SigningKey {
        guard let key = keys.first(where: { $0.id == id }) else { throw .unknown }
        if let retiredAt = key.retiredAt, !key.isAccepted(at: time) { throw .retired(retiredAt) }
        return key
    }

    private mutating func change(_ id: String, _ body: (inout SigningKey) -> Void) {
        for index in keys.indices where keys[index].id == id { body(&keys[index]) }
    }

    /// Adds a key, and removes the keys that were retired more than ``listingTime`` ago.
    private mutating func add(_ material: SigningKey.Material, createdAt: Date, signsFrom: Date) {
        let listed = keys.filter { key in key.retiredAt.map { $0 + Self.listingTime > createdAt } ?? true }
        let key = SigningKey(id: material.id, sealed: material.sealed, createdAt: createdAt, signsFrom: signsFrom, retiredAt: nil)
        self = Self(listed + [key])
    }
}

/// The reason for which a key can't be rotated or retired.
public enum SigningKeyRefusal: Error, Hashable, Sendable {
    /// A new key is already published but does not sign yet.
    case pending(SigningKey)
    /// There is no such key.
    case unknown
    /// The key's tokens have been refused since this time.
    case retired(Date)
}

extension SigningKey {
    /// The value of ``sealed`` after the private key was removed.
    fileprivate static let removed = Data("removed".utf8)

    fileprivate func isAccepted(at time: Date) -> Bool { sealed != Self.removed && retiredAt.map { $0 > time } ?? true }
}
