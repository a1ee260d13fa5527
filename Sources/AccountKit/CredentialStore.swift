import Synchronization

/// Where an app keeps the credentials of its one session.
public protocol CredentialStore: Sendable {
    /// The credentials, or `nil` if nobody is signed in.
    func load() async throws -> Credentials?
    /// Keeps credentials in place of earlier ones; `nil` forgets them.
    func save(_ credentials: Credentials?) async throws
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
