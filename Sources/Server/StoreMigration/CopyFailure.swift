import Foundation

/// The reason for which a copy failed. The server on SQLite continues, and the copy can be started again.
public struct CopyFailure: Error, Hashable, CustomStringConvertible, Sendable {
    /// The reason, with its fix.
    public let description: String

    /// Creates a failure.
    /// - Parameter description: The reason, with its fix.
    init(_ description: String) {
        self.description = description
    }

    /// The progress in PostgreSQL was changed by another process.
    static let concurrent = CopyFailure("another copy writes to the PostgreSQL database; wait for its end")
    /// SQLite is sealed, but not by a copy into this database.
    static let movedElsewhere = CopyFailure(
        "the data was moved to another PostgreSQL database; to go back to SQLite, use --undo"
    )
}

/// The lock of a copy, which one process at a time holds. The system releases it when the process ends.
struct CopyLock: ~Copyable {
    /// The descriptor of the lock file. The lock ends when it is closed.
    private let descriptor: Int32

    /// Takes the lock, a file in the folder of the database.
    /// - Throws: ``CopyFailure`` if another process holds it, or if the file can't be created.
    init(_ file: URL) throws {
        let path = file.deletingLastPathComponent().appending(path: "copy.lock").path
        descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CopyFailure("\(path): \(String(cString: strerror(errno)))") }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw CopyFailure("another copy of this data is running; wait for its end")
        }
    }

    deinit { close(descriptor) }
}
