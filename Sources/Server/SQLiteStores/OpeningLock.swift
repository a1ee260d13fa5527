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
