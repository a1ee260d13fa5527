import Dispatch
public import Foundation
import PrivateFiles
public import Timekeeping

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Stores credentials in a file that only its owner can read. Use this store in command-line tools and on Linux.
///
/// ```swift
/// let store = FileCredentialStore(file: folder.appending(path: "session.json"))
/// ```
/// The store replaces the file as a whole, so no reader sees a part of a file, even after a crash. Several processes can share the file. A
/// lock file beside this file ensures that only one process refreshes the session at a time. After the first refresh, the other processes
/// find the new credentials in the file. If a process is killed, the system releases its locks. The store doesn't encrypt the tokens.
public struct FileCredentialStore: CredentialStore {
    private let file: URL
    private let clock: MonotonicClock
    private let lockTimeout: Duration

    /// Creates a store.
    /// - Parameters:
    ///   - file: The file. Its folder must exist. The store also uses two lock files beside it, whose names end in `.lock` and
    ///     `.write-lock`. Other files beside it contain secrets that remain when the session ends, such as the file whose name ends in
    ///     `.device-tokens`.
    ///   - clock: The clock that measures the wait for a lock. If another process holds the lock, the store tries again every 20 ms.
    ///   - lockTimeout: The maximum wait for a lock. It must be longer than a refresh of the session, because the refreshing process holds
    ///     the lock.
    public init(file: URL, clock: MonotonicClock = .continuous, lockTimeout: Duration = .seconds(30)) {
        self.file = file
        self.clock = clock
        self.lockTimeout = lockTimeout
    }

    /// Returns the credentials; `nil` if there is no file, or if the file contains no credentials. The method takes no lock.
    /// - Throws: `POSIXError` if the file exists and can't be read.
    public func load() async throws -> Credentials? { try await read() }

    /// Stores credentials, which replace the earlier credentials; `nil` removes the file.
    /// - Parameter credentials: The new credentials; `nil` removes the file.
    /// - Throws: `POSIXError`, such as `EWOULDBLOCK` if another process holds the lock for longer than the timeout. The file then doesn't
    ///   change.
    public func save(_ credentials: Credentials?) async throws {
        try await locked(".write-lock") { try await write(credentials) }
    }

    /// Stores credentials if the file still contains the expected credentials. Any process may have written the expected credentials.
    /// - Parameters:
    ///   - credentials: The new credentials; `nil` removes the file.
    ///   - expected: The credentials that the file must still contain.
    /// - Returns: Whether the credentials were stored.
    /// - Throws: `POSIXError`, such as `EWOULDBLOCK` if another process holds the lock for longer than the timeout.
    public func save(_ credentials: Credentials?, replacing expected: Credentials?) async throws -> Bool {
        try await locked(".write-lock") {
            guard try await read() == expected else { return false }
            try await write(credentials)
            return true
        }
    }

    /// Runs a closure under the lock of the file. No other process and no other task runs a closure under this lock at the same time.
    /// - Parameter body: The closure. The store releases the lock when the closure ends. If the process ends, the system releases the lock.
    /// - Returns: The result of the closure.
    /// - Throws: `POSIXError` with `EWOULDBLOCK` if another closure holds the lock until the timeout. Otherwise, the error of the closure.
    public func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await locked(".lock", body)
    }

    /// Returns a store for a file beside this file. The name of the new file ends in the given name. The store doesn't encrypt the new
    /// file.
    /// - Parameter name: The end of the file name: lowercase letters and hyphens. Don't use `lock` and `write-lock`, because the locks of
    ///   this store have these names.
    public func secretStore(named name: String) -> any SecretStore {
        SecretFile(url: URL(fileURLWithPath: file.path + "." + name))
    }

    /// Reads the file. If the file can't be decoded, the method treats it as missing, so that the user can sign in again.
    private func read() async throws -> Credentials? {
        try await SecretFile(url: file).loadSecret().flatMap { try? JSONDecoder().decode(Credentials.self, from: $0) }
    }

    private func write(_ credentials: Credentials?) async throws {
        try await SecretFile(url: file).saveSecret(try credentials.map { try JSONEncoder().encode($0) })
    }

    /// Runs a closure under a lock of the file system (`flock`) on a file beside the credentials. Each call opens the lock file again, so
    /// callers in one process also exclude each other.
    /// - Parameters:
    ///   - suffix: The end of the name of the lock file.
    ///   - body: The closure.
    /// - Throws: `POSIXError` with `EWOULDBLOCK` after the timeout. Otherwise, the error of the closure.
    private func locked<Value: Sendable>(_ suffix: String, _ body: @Sendable () async throws -> Value) async throws -> Value {
        let descriptor = open(file.path + suffix, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError.last }
        defer { close(descriptor) }
        let deadline = clock.now + lockTimeout
        // The function polls the lock, because a thread that waits in the kernel can't run another task.
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, clock.now < deadline else { throw POSIXError.last }
            try await clock.sleep(until: min(deadline, clock.now + .milliseconds(20)))
        }
        return try await body()
    }
}

/// A file that only its owner can read. Each write replaces the whole file.
private struct SecretFile: SecretStore {
    /// The largest file that is read, in bytes.
    private static let maximumSize = 1_048_576
    /// The queue of all reads and writes. They block, so they must not run on a thread of the cooperative pool.
    private static let queue = DispatchQueue(label: "holdfast.secret-file")

    let url: URL

    func loadSecret() async throws -> Data? {
        try await Self.queue.runFileWork { [path = url.path] in
            try PrivateFile.read(path, upTo: Self.maximumSize).map { Data($0) }
        }
    }

    func saveSecret(_ secret: Data?) async throws {
        try await Self.queue.runFileWork { [path = url.path] in
            guard let secret else { return try PrivateFile.remove(path) }
            try PrivateFile.replace(path, with: [UInt8](secret), isShared: true)
        }
    }
}

extension POSIXError {
    /// The error of the last system call that failed, from `errno`.
    fileprivate static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
