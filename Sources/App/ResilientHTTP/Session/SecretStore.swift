public import Foundation
import Synchronization

/// Stores one small secret of an app that outlives its sessions.
///
/// A ``CredentialStore`` returns such stores by ``CredentialStore/secretStore(named:)``.
public protocol SecretStore: Sendable {
    /// Returns the secret, or `nil` if there is none.
    func loadSecret() async throws -> Data?
    /// Stores a secret in place of an earlier one; `nil` removes it.
    func saveSecret(_ secret: Data?) async throws
}

/// Stores a secret in memory, until the process ends.
public final class MemorySecretStore: SecretStore {
    private let secret = Mutex<Data?>(nil)

    /// Creates an empty store.
    public init() {}

    /// Returns the secret, or `nil` if there is none.
    public func loadSecret() async -> Data? { secret.withLock { $0 } }

    /// Stores a secret in place of an earlier one; `nil` removes it.
    public func saveSecret(_ new: Data?) async { secret.withLock { $0 = new } }
}
