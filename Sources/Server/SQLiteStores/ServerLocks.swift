public import Foundation

/// The locks of the servers that use one data folder. Each server locks a file `servers/NAME.lock` while it runs.
///
/// The operating system releases a lock when its process ends, even after a crash. So other servers can immediately send the emails that
/// this process had claimed; see ``SQLiteMailIntentQueue``.
///
/// `flock` locks work on local disks only. So don't use a folder that several machines mount.
///
/// ```swift
/// let locks = ServerLocks(folder: data.appending(path: "servers"))
/// let holder = try locks.take()
/// let stores = SQLiteAccountStores(database, locks: locks, holder: holder)
/// ```
public struct ServerLocks: Sendable {
    /// The folder of the lock files.
    private let folder: URL

    /// Creates the locks of a folder. Does no I/O.
    /// - Parameter folder: The folder of the lock files; it is created when the first lock is taken.
    public init(folder: URL) {
        self.folder = folder
    }

    /// Takes a new lock with a random name. The process holds the lock until the returned value is deallocated or the process ends.
    /// - Throws: `POSIXError` if the file cannot be created or locked.
    public func take() throws -> ServerLock {
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        while true {
            let name = UUID().uuidString.lowercased()
            // The file receives its final name only after it is locked. Otherwise, another server could find it unlocked and remove it.
            let draft = folder.appending(path: ".\(name)").path
            let descriptor = open(draft, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0, rename(draft, path(name)) == 0 {
                return ServerLock(name: name, path: path(name), descriptor: descriptor)
            }
            let reason = errno
            close(descriptor)
            // A server that starts at the same time may have removed this file before it was locked.
            guard [ENOENT, EWOULDBLOCK].contains(reason) else { throw POSIXError(.init(rawValue: reason) ?? .EIO) }
        }
    }

    /// Returns whether the server that took a lock is still running. If the server has stopped, the method removes the lock file. If the
    /// state can't be determined, the method returns `true`.
    /// - Parameter name: The name of the lock, which the leases of the server contain. If the name is not a UUID, the method returns
    ///   `true`, so that it never removes another file.
    func isHeld(_ name: String) -> Bool {
        guard UUID(uuidString: name) != nil else { return true }
        return isLocked(path(name))
    }

    /// Removes the lock files of stopped servers. It is safe to call while servers start and stop.
    public func removeAbandoned() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names { _ = isLocked(folder.appending(path: name).path) }
    }

    /// Returns whether a process holds the lock of a file. If no process holds the lock, the file is removed.
    ///
    /// A file that doesn't exist is not locked. A file that can't be opened counts as locked.
    private func isLocked(_ path: String) -> Bool {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return errno != ENOENT }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return true }
        unlink(path)
        return false
    }

    /// Returns the path of a lock file.
    private func path(_ name: String) -> String { folder.appending(path: "\(name).lock").path }
}

/// A lock that this process holds until the value is deallocated. Programs that the process starts don't inherit the lock.
///
/// When the lock is released, the file is removed before the descriptor is closed. So a graceful stop leaves no file behind.
public final class ServerLock: Sendable {
    /// The name of the lock. Leases of emails contain this name.
    public let name: String
    /// The path of the lock file.
    private let path: String
    /// The file descriptor, which holds the lock.
    private let descriptor: Int32

    fileprivate init(name: String, path: String, descriptor: Int32) {
        (self.name, self.path, self.descriptor) = (name, path, descriptor)
    }

    deinit {
        unlink(path)
        close(descriptor)
    }
}
