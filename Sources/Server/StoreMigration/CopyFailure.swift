import Foundation

/// The reason why a copy failed. The operator can remove the cause and then start the copy again.
///
/// The text is for operators. If a database itself fails, the copy throws `StoreFailure` instead.
public struct CopyFailure: Error, Hashable, CustomStringConvertible, Sendable {
    /// The reason of the failure, and what the operator can do about it.
    public let description: String

    /// Creates a failure.
    /// - Parameter description: The reason of the failure, and what the operator can do about it.
    init(_ description: String) {
        self.description = description
    }

    /// The failure if the copy of another process has changed the progress that PostgreSQL stores. This copy ends, and the other copy
    /// continues.
    static let concurrent = CopyFailure("another copy writes to the PostgreSQL database; wait for its end")
    /// The failure if an earlier copy to another PostgreSQL database has already sealed the SQLite database.
    static let movedElsewhere = CopyFailure(
        "the data was moved to another PostgreSQL database; to go back to SQLite, use --undo"
    )
}

/// The lock of a copy, so that only one process at a time copies a SQLite database.
///
/// The lock is an advisory lock (`flock`) on a file next to the database. The kernel releases the lock when the process ends, also after a
/// crash. The file remains.
struct CopyLock: ~Copyable {
    /// The descriptor of the lock file.
    private let descriptor: Int32

    /// Acquires the lock, without waiting. The lock file is `copy.lock` in the folder of the database.
    /// - Parameter file: The SQLite database.
    /// - Throws: ``CopyFailure`` if another process has the lock, or if the file can't be created.
    init(_ file: URL) throws {
        let path = file.deletingLastPathComponent().appending(path: "copy.lock").path
        descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CopyFailure("\(path): \(String(cString: strerror(errno)))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw CopyFailure("another copy of this data is running; wait for its end")
        }
    }

    deinit {
        // A child process can have a copy of the descriptor between fork and exec, so that `close` alone would not release the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
