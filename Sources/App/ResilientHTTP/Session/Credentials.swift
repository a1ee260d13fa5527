public import Foundation
import Synchronization

/// The tokens of a session.
///
/// Two values are equal if their tokens and their expiry are equal. Descriptions and reflection hide the tokens, so a log never contains
/// tokens. Encoded credentials contain the tokens.
public struct Credentials: Sendable, Codable {
    /// The token that the client sends as `Authorization: Bearer`.
    public var accessToken: String
    /// The token that refreshes the session; `nil` if the session can't be refreshed.
    public var refreshToken: String?
    /// The time at which the access token expires, by the local wall clock; `nil` if the server did not report the time.
    public var expiresAt: Date?
    /// The identifier of the user; `nil` if the app doesn't know it. With this identifier, the session recognizes that another user signed
    /// in, so a call of one user never continues with the tokens of another user. An offline queue stores authorized requests only if the
    /// identifier is known.
    public var userID: String?
    /// The identifier of the sign-in to which the tokens belong. ``Session`` sets the identifier at sign-in, and preserves it in refreshes.
    /// With this identifier, ``Session`` recognizes a call that began with the tokens of an earlier sign-in.
    var sessionID: String?

    /// Creates credentials from the response of a sign-in or a refresh.
    /// - Parameters:
    ///   - accessToken: The token for `Authorization: Bearer`.
    ///   - refreshToken: The token that refreshes the session; `nil` if the session can't be refreshed. If the response of a refresh has no
    ///     refresh token, the session preserves the present one.
    ///   - expiresAt: The time at which the access token expires. With `nil`, the session refreshes the token only after the server has
    ///     refused it.
    ///   - userID: The identifier of the user. If the response of a refresh has no identifier, the session preserves the present one.
    public init(accessToken: String, refreshToken: String?, expiresAt: Date? = nil, userID: String? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.userID = userID
    }
}

extension Credentials: Hashable {
    /// Returns whether the tokens and their expiry are equal. The operator doesn't compare the identifiers of the user and of the session.
    public static func == (left: Credentials, right: Credentials) -> Bool {
        left.accessToken == right.accessToken && left.refreshToken == right.refreshToken && left.expiresAt == right.expiresAt
    }

    /// Hashes the tokens and their expiry, which are the members that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(accessToken)
        hasher.combine(refreshToken)
        hasher.combine(expiresAt)
    }

    /// Returns the same credentials with a session identifier. If no identifier is known, the method derives one from the tokens. Two
    /// processes that load the same credentials therefore derive the same identifier.
    func identified(as known: String? = nil) -> Credentials {
        var credentials = self
        credentials.sessionID = known ?? sessionID ?? Self.fingerprint(refreshToken ?? accessToken)
        return credentials
    }

    /// Returns the FNV-1a hash of a text, in hexadecimal digits.
    private static func fingerprint(_ text: String) -> String {
        let hash = text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// A text without the tokens.
    public var description: String { "Credentials(hidden)" }
    /// A mirror without members, so that reflection shows no tokens.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Stores the credentials of an app that has one session.
///
/// Use `KeychainCredentialStore` in apps for Apple platforms, ``FileCredentialStore`` in command-line tools and on Linux, and
/// ``MemoryCredentialStore`` in tests.
///
/// A store must return all members of the credentials that were saved. If several processes share a store, such as an app and its
/// extension, ``Session`` needs ``save(_:replacing:)`` and ``exclusively(_:)``. Implement both methods in such a store.
public protocol CredentialStore: Sendable {
    /// Returns the credentials, or `nil` if no user is signed in.
    /// - Throws: Any error if the credentials can't be read now, such as on a locked device. The call that needs the credentials then
    ///   fails, and the user stays signed in.
    func load() async throws -> Credentials?
    /// Stores credentials, which replace the earlier credentials; `nil` removes them.
    ///
    /// When this method returns, a crash of the process must not lose the credentials. Otherwise, an app could lose a rotated refresh
    /// token, and its user would have to sign in again.
    /// - Parameter credentials: The credentials; `nil` when the session has ended.
    /// - Throws: Any error if the credentials can't be written.
    func save(_ credentials: Credentials?) async throws
    /// Stores credentials if the store still contains the expected credentials; `nil` means no credentials. The method compares and writes
    /// in one step, so no process overwrites the credentials of another process.
    /// - Parameters:
    ///   - credentials: The new credentials; `nil` removes the stored ones.
    ///   - expected: The credentials that the caller has loaded before; `nil` if the store was empty.
    /// - Returns: Whether the credentials were stored.
    func save(_ credentials: Credentials?, replacing expected: Credentials?) async throws -> Bool
    /// Runs a closure under a lock that all processes with this store share. A session refreshes its tokens in such a closure: the closure
    /// loads the credentials, calls the server and saves the new credentials. Because the closure calls the other methods of the store,
    /// these methods must not wait for the same lock.
    /// - Parameter body: The closure. It calls the server, so it may take as long as a request.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure, or an error if the lock can't be acquired.
    func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value
    /// Returns a store for another secret of the app, such as the tokens that identify a trusted device. This secret must stay when the
    /// credentials are removed. If the store preserves the credentials after the end of the process, it must also preserve the secret.
    /// - Parameter name: The name that distinguishes the secrets of an app: lowercase letters and hyphens.
    func secretStore(named name: String) -> any SecretStore
}

extension CredentialStore {
    /// Returns a store in memory, whose secret is lost when the process ends. If your store preserves the credentials after the end of the
    /// process, implement this method in your store.
    /// - Parameter name: Ignored. Each call returns a new store.
    public func secretStore(named name: String) -> any SecretStore { MemorySecretStore() }

    /// Runs the closure at once, without a lock. This is correct for a store that no other process shares.
    /// - Parameter body: The closure.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    public func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await body()
    }

    /// Loads, compares and saves the credentials in separate steps. If another process saves between these steps, the method overwrites the
    /// credentials of that process.
    /// - Parameters:
    ///   - credentials: The new credentials; `nil` removes the stored ones.
    ///   - expected: The credentials that the store must still have. Only the tokens are compared.
    /// - Returns: Whether the credentials were stored.
    /// - Throws: The error of ``load()`` or ``save(_:)``.
    public func save(_ credentials: Credentials?, replacing expected: Credentials?) async throws -> Bool {
        guard try await load().hasTokens(of: expected) else { return false }
        try await save(credentials)
        return true
    }
}

/// Stores credentials in memory, until the process ends. Use this store for tests and for tools that sign in at each start.
public final class MemoryCredentialStore: CredentialStore {
    private let credentials: Mutex<Credentials?>

    /// Creates a store.
    /// - Parameter credentials: The credentials of a signed-in user; `nil` if no user is signed in.
    public init(_ credentials: Credentials? = nil) {
        self.credentials = Mutex(credentials)
    }

    /// Returns the credentials, or `nil` if no user is signed in.
    public func load() async -> Credentials? { credentials.withLock { $0 } }

    /// Stores credentials, which replace the earlier credentials; `nil` removes them.
    /// - Parameter new: The new credentials; `nil` removes the stored ones.
    public func save(_ new: Credentials?) async { credentials.withLock { $0 = new } }

    /// Stores credentials if the store still contains the expected credentials.
    /// - Parameters:
    ///   - new: The new credentials; `nil` removes the stored ones.
    ///   - expected: The credentials that the store must still contain.
    /// - Returns: Whether the credentials were stored.
    public func save(_ new: Credentials?, replacing expected: Credentials?) async -> Bool {
        credentials.withLock { credentials in
            guard credentials == expected else { return false }
            credentials = new
            return true
        }
    }
}

/// Stores one small secret of an app. The end of a session doesn't remove the secret.
///
/// ``CredentialStore/secretStore(named:)`` returns such a store.
public protocol SecretStore: Sendable {
    /// Returns the secret, or `nil` if there is none.
    /// - Throws: Any error if the secret can't be read now, such as on a locked device.
    func loadSecret() async throws -> Data?
    /// Stores a secret, which replaces the earlier secret; `nil` removes it.
    /// - Parameter secret: The secret; `nil` removes it.
    /// - Throws: Any error if the secret can't be written. The app continues without the new secret.
    func saveSecret(_ secret: Data?) async throws
}

/// Stores a secret in memory, until the process ends.
public final class MemorySecretStore: SecretStore {
    private let secret = Mutex<Data?>(nil)

    /// Creates an empty store.
    public init() {}

    /// Returns the secret, or `nil` if there is none.
    public func loadSecret() async -> Data? { secret.withLock { $0 } }

    /// Stores a secret, which replaces the earlier secret; `nil` removes it.
    /// - Parameter new: The new secret; `nil` removes the earlier one.
    public func saveSecret(_ new: Data?) async { secret.withLock { $0 = new } }
}
