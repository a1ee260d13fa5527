import Foundation

/// Lets one opener at a time make a database file ready, among all processes.
///
/// SQLite refuses one of two that switch a new file to WAL at once, whatever its busy timeout, and two migrators would both find
/// the file empty.
enum OpeningLock {
    /// Holds the lock, a file beside the database, while the closure runs. The system releases it if the process dies.
    static func hold<Result>(for path: String, _ body: () throws -> Result) rethrows -> Result {
        let file = open(path + "-lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        // Where no lock can be made, no database can be made either, and SQLite says why.
        guard file >= 0 else { return try body() }
        defer { close(file) }
        while flock(file, LOCK_EX) != 0, errno == EINTR {}
        return try body()
    }
}

/// Which file a path leads to.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// - Returns: `nil` if there is none.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}
