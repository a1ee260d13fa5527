import Synchronization

/// Where an app keeps the credentials of its one session.
public protocol CredentialStore: Sendable {
    /// The credentials, or `nil` if nobody is signed in.
    func load() async throws -> Credentials?
    /// Keeps credentials in place of earlier ones; `nil` forgets them.
    func save(_ credentials: Credentials?) async throws
    /// Runs a closure while no other process that shares the store runs one: a refresh reads, asks and writes as one step.
    func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value
}

extension CredentialStore {
    /// A store that no other process shares has nobody to keep out.
    public func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await body()
    }
}

/// Keeps credentials until the process ends.
public final class MemoryCredentialStore: CredentialStore {
    private let credentials: Mutex<Credentials?>

    /// Creates a store.
    public init(_ credentials: Credentials? = nil) {
        self.credentials = Mutex(credentials)
    }

    /// The credentials, or `nil` if nobody is signed in.
    public func load() async -> Credentials? { credentials.withLock { $0 } }
    /// Keeps credentials in place of earlier ones; `nil` forgets them.
    public func save(_ new: Credentials?) async { credentials.withLock { $0 = new } }
}
