import AccountContract
import Crypto
public import Foundation
public import Logging
import RateLimiting
import StrictJSON
import Synchronization
public import Timekeeping
import TokenVerifier

/// Provides the keys that sign and verify access tokens in this process. It reads them from their store at most once per second.
///
/// The first use creates the first key. If another process retires a key with ``retire(_:isLeaked:)``, this process refuses the key at most
/// ``maximumAge`` later.
///
/// **Secret.** Private keys are encrypted under the server's secret. While the secret is being replaced, keys that are encrypted under the
/// previous secret still sign tokens. This type also publishes a key under the new secret, which replaces the earlier keys. If no key can
/// be decrypted, a new key signs immediately.
public final class SigningKeys: Sendable {
    /// The age at which this process no longer uses the keys that it has read, and reads them again.
    public static let maximumAge = Duration.seconds(1)

    /// The keys as they were last read from the store, and the time of that read.
    private struct Held {
        let keys: LoadedKeys
        let readAt: Duration
    }

    private let store: any SigningKeyStore
    private let secrets: SigningKeySecrets
    private let clock: MonotonicClock
    private let now: @Sendable () -> Date
    private let logger: Logger
    private let held = Mutex<Held?>(nil)
    private let reading = SingleFlight<LoadedKeys>()

    /// Creates the keys. Nothing is read until they are first used.
    /// - Parameters:
    ///   - store: The store of the keys.
    ///   - secrets: Encrypts and decrypts private keys.
    ///   - clock: Measures the time since the keys were read.
    ///   - now: The wall clock. It decides which key signs and which keys are retired.
    ///   - logger: Logs changes of the keys, never the keys themselves.
    public init(
        store: any SigningKeyStore,
        secrets: SigningKeySecrets,
        clock: MonotonicClock = .continuous,
        now: @escaping @Sendable () -> Date,
        logger: Logger = Logger(label: "holdfast.keys")
    ) {
        self.store = store
        self.secrets = secrets
        self.clock = clock
        self.now = now
        self.logger = logger
    }

    /// Returns the stored keys, and creates the first one if there is none.
    /// - Throws: An error of the store.
    public func stored() async throws -> SigningKeySet { try await current().stored }

    /// Returns the public keys as a JSON Web Key Set (RFC 7517), and an entity tag (`ETag`) that changes when the keys change.
    public func published() async throws -> (document: [UInt8], tag: String) {
        let keys = try await current()
        return (keys.document, keys.tag)
    }

    /// Publishes a new key, which will replace the signing key. See ``SigningKeySet/rotate(to:at:)``.
    /// - Returns: The new keys.
    /// - Throws: ``SigningKeyRefusal``, or an error of the store.
    @discardableResult
    public func rotate() async throws -> SigningKeySet {
        let material = try secrets.newKey()
        return try await change { (keys, now) throws(SigningKeyRefusal) in try keys.rotate(to: material, at: now) }
    }

    /// Retires a key. If it is the signing key, another key replaces it.
    /// - Parameters:
    ///   - id: The id of the key.
    ///   - isLeaked: Whether the private key has leaked. If `true`, all tokens of the key are refused immediately. If `false`, they are
    ///     accepted until they expire.
    /// - Returns: The new keys.
    /// - Throws: ``SigningKeyRefusal``, or an error of the store.
    @discardableResult
    public func retire(_ id: String, isLeaked: Bool) async throws -> SigningKeySet {
        let material = try secrets.newKey()
        return try await change { (keys, now) throws(SigningKeyRefusal) in
            if isLeaked {
                try keys.retireNow(id, replacedBy: material, at: now)
            } else {
                try keys.retire(id, replacedBy: material, at: now)
            }
        }
    }

    /// Changes the stored keys, and discards this process's copy of the keys.
    private func change(
        _ body: @escaping @Sendable (inout SigningKeySet, Date) throws(SigningKeyRefusal) -> Void
    ) async throws -> SigningKeySet {
        _ = try await current()
        let new = try await store.changeSigningKeys { [now] stored in
            var keys = stored
            try body(&keys, now())
            return keys
        }
        // This process's copy of the keys is outdated now. The next use reads the keys again.
        held.withLock { $0 = nil }
        return new
    }

    /// Returns keys that were read at most ``maximumAge`` ago. Concurrent callers share one read.
    func current() async throws -> LoadedKeys {
        if let fresh { return fresh }
        return try await reading.run { [self] in
            fresh.map { .ready($0) } ?? .join
        } _: { [self] in
            // The age begins before the read, because the keys may change during the read.
            let readAt = clock.now
            let last = held.withLock { $0?.keys }
            let keys = try await load(last)
            held.withLock { $0 = Held(keys: keys, readAt: readAt) }
            return keys
        }.value
    }

    /// The keys of the last read; `nil` if they are older than ``maximumAge``.
    private var fresh: LoadedKeys? {
        held.withLock { held in held.flatMap { clock.now - $0.readAt < Self.maximumAge ? $0.keys : nil } }
    }

    /// Reads the stored keys. If no key can be decrypted, or if the signing key needs the previous secret, the method adds a new key. If
    /// nothing has changed since the last read, the method returns `last`, so that it doesn't decrypt a key twice.
    /// - Parameter last: The keys of the last read.
    private func load(_ last: LoadedKeys?) async throws -> LoadedKeys {
        var stored = try await store.signingKeys()
        if secrets.needsKey(stored, at: now()) {
            let material = try secrets.newKey()
            stored = try await store.changeSigningKeys { [secrets, now] stored in
                var keys = stored
                try secrets.addKey(material, to: &keys, at: now())
                return keys
            }
        }
        if let last, last.stored == stored, last.published == stored.accepted(at: now()).map(\.id) { return last }
        let keys = try await LoadedKeys(stored, secrets, at: now())
        if last?.stored != stored {
            let signer = keys.readable.signer(at: now())?.id ?? "none"
            logger.notice(
                "Signing keys loaded",
                metadata: ["keys.signer": "\(signer)", "keys.published": "\(keys.published.count)"]
            )
        }
        return keys
    }
}

/// The stored keys, decrypted and prepared for use in this process.
struct LoadedKeys: Sendable {
    /// A private key with the header of its tokens.
    struct Signer: Sendable {
        let key: P256.Signing.PrivateKey
        /// The header of the key's tokens, in base64url.
        let header: String
    }

    /// All stored keys.
    let stored: SigningKeySet
    /// The keys that this process can decrypt.
    let readable: SigningKeySet
    /// The ids of all keys whose tokens are accepted. The document contains only the keys that this process can decrypt.
    let published: [String]
    /// The private keys that this process can decrypt, by id.
    let signers: [String: Signer]
    /// The public keys, which verify signatures.
    let verification: TokenKeys
    /// The JSON Web Key Set (RFC 7517), encoded.
    let document: [UInt8]
    /// The entity tag of the document, in quotes.
    let tag: String

    init(_ stored: SigningKeySet, _ secrets: SigningKeySecrets, at time: Date) async throws {
        self.stored = stored
        var opened: [String: P256.Signing.PrivateKey] = [:]
        for key in stored.keys { opened[key.id] = secrets.open(key) }
        readable = SigningKeySet(stored.keys.filter { opened[$0.id] != nil })
        published = stored.accepted(at: time).map(\.id)
        signers = Dictionary(uniqueKeysWithValues: opened.map { ($0, Signer(key: $1, header: Self.header(of: $0))) })
        let members = readable.accepted(at: time).compactMap { key in opened[key.id].map { Self.member(key.id, $0.publicKey) } }
        document = JSONValue.object(["keys": .array(members)]).encoded()
        verification = try await TokenKeys(document: document)
        tag = "\"" + SHA256.hash(data: document).prefix(16).map { String($0, radix: 36) }.joined(separator: "-") + "\""
    }

    private static func header(of id: String) -> String {
        Base64URL.encoded(JSONValue.object(["alg": "ES256", "kid": .string(id), "typ": "at+jwt"]).encoded())
    }

    private static func member(_ id: String, _ key: P256.Signing.PublicKey) -> JSONValue {
        let point = Array(key.rawRepresentation)
        return [
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": .string(id),
            "x": .string(Base64URL.encoded(point.prefix(32))), "y": .string(Base64URL.encoded(point.suffix(32))),
        ]
    }
}

extension SigningKeySecrets {
    /// Returns whether a new key must be added: no key can be decrypted, or the signing key can be decrypted only with the previous secret.
    fileprivate func needsKey(_ stored: SigningKeySet, at time: Date) -> Bool {
        var keys = stored
        let unused = SigningKey.Material(id: "", sealed: Data())
        return (try? addKey(unused, to: &keys, at: time)) == nil || keys != stored
    }

    /// Adds a key if ``needsKey(_:at:)`` returns `true`. If another key can sign, the new key is first published, and replaces the other
    /// key later.
    fileprivate func addKey(
        _ material: SigningKey.Material,
        to keys: inout SigningKeySet,
        at time: Date
    ) throws(SigningKeyRefusal) {
        let readable = SigningKeySet(keys.keys.filter { open($0) != nil })
        guard let signer = readable.signer(at: time) else { return keys.start(with: material, at: time) }
        if needsPrevious(signer), keys.pending(at: time) == nil { try keys.rotate(to: material, at: time) }
    }
}
