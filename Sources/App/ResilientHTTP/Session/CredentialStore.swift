import Synchronization

/// Stores the credentials of an app's one session.
///
/// A store keeps credentials as they are, all members included.
///
/// Several processes may share a store, such as an app and its extension. ``Session`` then relies on
/// ``save(_:replacing:)`` and ``exclusively(_:)``: override both in such a store.
public protocol CredentialStore: Sendable {
    /// Returns the credentials, or `nil` if no user is signed in.
    func load() async throws -> Credentials?
    /// Stores credentials in place of earlier ones; `nil` removes them.
    func save(_ credentials: Credentials?) async throws
    /// Stores credentials if the store still holds the expected ones; `nil` stands for none. Compares and writes in one step.
    /// - Returns: Whether the credentials were stored.
    func save(_ credentials: Credentials?, replacing expected: Credentials?) async throws -> Bool
    /// Runs a closure while no other process that shares the store runs one. A refresh loads, calls the server and saves in one such step.
    func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value
    /// Returns a store for another secret, which stays when the credentials are removed. A store of credentials that survive the process
    /// returns one whose secret survives it, too.
    /// - Parameter name: Distinguishes the secrets of an app: lowercase letters and hyphens.
    func secretStore(named name: String) -> any SecretStore
}

extension CredentialStore {
    /// Returns a store in memory.
    public func secretStore(named name: String) -> any SecretStore { MemorySecretStore() }

    /// Runs the closure at once: a store that no other process shares needs no lock.
    public func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await body()
    }

    /// Loads, compares and saves. Another process that saves between these steps is not noticed.
    public func save(_ credentials: Credentials?, replacing expected: Credentials?) async throws -> Bool {
        guard try await load().hasTokens(of: expected) else { return false }
        try await save(credentials)
        return true
    }
}

/// Stores credentials in memory, until the process ends.
public final class MemoryCredentialStore: CredentialStore {
    private let credentials: Mutex<Credentials?>

    /// Creates a store.
    public init(_ credentials: Credentials? = nil) {
        self.credentials = Mutex(credentials)
    }

    /// Returns the credentials, or `nil` if no user is signed in.
    public func load() async -> Credentials? { credentials.withLock { $0 } }

    /// Stores credentials in place of earlier ones; `nil` removes them.
    public func save(_ new: Credentials?) async { credentials.withLock { $0 = new } }

    /// Stores credentials if the store still holds the expected ones.
    public func save(_ new: Credentials?, replacing expected: Credentials?) async -> Bool {
        credentials.withLock { credentials in
            guard credentials == expected else { return false }
            credentials = new
            return true
        }
    }
}
