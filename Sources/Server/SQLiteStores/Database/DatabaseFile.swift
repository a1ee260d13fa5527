import Foundation

/// Provides a lock, so that only one process at a time prepares a database file.
///
/// If two connections switch a new file to WAL at the same time, SQLite refuses one of them regardless of its busy timeout. Also, if two
/// processes migrated a new file at the same time, both would find it empty and create its tables.
enum OpeningLock {
    /// Runs a closure while this process holds the lock of a file beside the database. The operating system releases the lock if the
    /// process dies.
    /// - Parameter path: The path of the database. The lock file has the same path with the suffix `-lock`, and stays on the disk.
    /// - Throws: The errors of the closure.
    /// - Note: The method blocks the thread until other processes have released the lock.
    static func hold<Result>(for path: String, _ body: () throws -> Result) rethrows -> Result {
        let file = open(path + "-lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        // If the lock file can't be created, the database can't be created either, and SQLite reports the reason.
        guard file >= 0 else { return try body() }
        defer { close(file) }
        while flock(file, LOCK_EX) != 0, errno == EINTR {}
        return try body()
    }
}

/// The identity of a file, independent of its path: the device and the inode. Two paths with equal identities lead to the same file.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// Reads the identity of the file at a path, with one system call.
    /// - Returns: `nil` if there is no file at the path.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }
}
