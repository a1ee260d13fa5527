import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The identity, the size and the number of names (hard links) of a file, as `stat(2)` returns them. To find out whether an open file was
/// replaced or removed, compare the status of the open file with the status at its path.
package struct FileStatus: Hashable, Sendable {
    /// The identity of a file: the file system, and the number of the file in this file system. If another file replaces the file at a
    /// path, the identity at this path changes. After a file is removed, the system can use its number for a new file.
    package struct Identity: Hashable, Sendable {
        /// The number of the file system.
        package var device: UInt64
        /// The number of the file in its file system.
        package var inode: UInt64

        package init(device: UInt64, inode: UInt64) {
            (self.device, self.inode) = (device, inode)
        }
    }

    /// The identity of the file.
    package var identity: Identity
    /// The size in bytes.
    package var size: Int
    /// The number of names (hard links) of the file; 0 if the file was removed or replaced.
    package var links: Int

    /// Creates a status from its parts.
    package init(identity: Identity, size: Int, links: Int) {
        (self.identity, self.size, self.links) = (identity, size, links)
    }

    /// Creates a status from the result of `stat(2)`.
    fileprivate init(_ status: stat) {
        identity = Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            inode: UInt64(truncatingIfNeeded: status.st_ino)
        )
        size = Int(status.st_size)
        links = Int(status.st_nlink)
    }

    /// Returns the status of the file at a path. The method follows symbolic links.
    /// - Throws: ``FileFailure``. Its ``FileFailure/isMissing`` is `true` if there is no such file.
    package static func of(_ path: String) throws(FileFailure) -> FileStatus {
        var status = stat()
        guard fstatat(AT_FDCWD, path, &status, 0) == 0 else { throw .last }
        return FileStatus(status)
    }
}

/// The durability of the bytes of a file after a sync.
package enum SyncStrength: Int, Sendable, Comparable {
    /// The drive has received the bytes. If the power fails, the drive may lose them or write them in another order.
    case drive
    /// The drive has received the bytes and writes them in order. If the power fails, the drive may lose the last bytes.
    case ordered
    /// The bytes are on the medium and survive a power failure.
    case medium

    /// Returns whether the first strength protects against fewer failures than the second.
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// An open file that only its owner can read and write. The methods that read, write or truncate make one system call. A signal can
/// interrupt such a call (`EINTR`), and the call can read or write fewer bytes than requested. The methods wait for the disk, so don't call
/// them on the cooperative thread pool.
package final class OpenFile: Sendable {
    private let descriptor: Int32

    /// Opens a file.
    /// - Parameter creating: Whether to create the file if it doesn't exist.
    /// - Throws: ``FileFailure``. Its ``FileFailure/isMissing`` is `true` if there is no such file and `creating` is `false`.
    package init(_ path: String, creating: Bool) throws(FileFailure) {
        descriptor = open(path, O_RDWR | O_CLOEXEC | (creating ? O_CREAT : 0), 0o600)
        guard descriptor >= 0 else { throw .last }
    }

    deinit { close(descriptor) }

    /// Returns the status of the open file. If the file was removed or replaced, it has no name anymore.
    package func status() throws(FileFailure) -> FileStatus {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .last }
        return FileStatus(status)
    }

    /// Returns up to a number of bytes. The result is empty at the end of the file.
    /// - Parameters:
    ///   - count: The maximum number of bytes. The method returns fewer bytes if the file ends or a signal interrupts the call.
    ///   - offset: The position in bytes.
    package func read(_ count: Int, at offset: Int) throws(FileFailure) -> [UInt8] {
        var failure: FileFailure?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            let result = pread(descriptor, buffer.baseAddress, count, off_t(offset))
            if result < 0 { failure = .last }
            length = max(0, result)
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes bytes and returns the number of written bytes.
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - offset: The position in bytes. If the position is beyond the end, the system fills the gap with zeros.
    /// - Returns: The number of written bytes. If the number is less than requested, for example because the disk is almost full, call the
    ///   method again with the rest.
    package func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(FileFailure) -> Int {
        let result = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        guard result >= 0 else { throw .last }
        return result
    }

    /// Changes the size of the file. Added bytes are zeros.
    /// - Parameter size: The new size in bytes. Bytes after it are lost.
    /// - Throws: ``FileFailure``. Its ``FileFailure/isFull`` is `true` if the disk has no space for added bytes.
    package func truncate(to size: Int) throws(FileFailure) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw .last }
    }

    /// Writes all bytes and the size to the medium. If the file system doesn't support such a sync, the method does a weaker sync and
    /// returns a weaker ``SyncStrength``.
    package func sync() throws(FileFailure) -> SyncStrength {
        #if canImport(Darwin)
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return .medium }
            // Try a weaker sync only if the file system doesn't support this one. After any other failure, bytes may be lost.
            guard errno == ENOTSUP || errno == EINVAL else { throw .last }
            if fcntl(descriptor, F_BARRIERFSYNC) == 0 { return .ordered }
            guard errno == ENOTSUP || errno == EINVAL else { throw .last }
            guard fsync(descriptor) == 0 else { throw .last }
            return .drive
        #else
            guard fdatasync(descriptor) == 0 else { throw .last }
            return .medium
        #endif
    }

    /// Writes the names of the files in a folder to the medium, so that new and renamed files survive a power failure.
    package static func syncFolder(_ path: String) throws(FileFailure) {
        let folder = open(path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { throw .last }
        defer { close(folder) }
        #if canImport(Darwin)
            if fcntl(folder, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(folder) == 0 else { throw .last }
    }

    /// Gives a file another name, and replaces a file that already has this name.
    package static func rename(_ path: String, to newPath: String) throws(FileFailure) {
        #if canImport(Darwin)
            guard Darwin.rename(path, newPath) == 0 else { throw .last }
        #elseif canImport(Glibc)
            guard Glibc.rename(path, newPath) == 0 else { throw .last }
        #else
            guard Musl.rename(path, newPath) == 0 else { throw .last }
        #endif
    }

    /// Locks the file, so that no other process and no other `OpenFile` of this process can lock it. Returns whether the lock succeeded.
    package func lock() throws(FileFailure) -> Bool {
        let identity = try status().identity
        // Some file systems store locks by process. There, the lock of one open file doesn't exclude another open file of the same process,
        // so the class also records its locks.
        guard Self.locked.withLock({ $0.insert(identity).inserted }) else { return false }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            let failure = FileFailure.last
            Self.locked.withLock { _ = $0.remove(identity) }
            guard failure.code == EWOULDBLOCK else { throw failure }
            return false
        }
        return true
    }

    /// Releases the lock. If a forked child process has the same open file, the method also releases the lock for this child.
    package func unlock() {
        flock(descriptor, LOCK_UN)
        if let identity = try? status().identity { Self.locked.withLock { _ = $0.remove(identity) } }
    }

    private static let locked = Mutex<Set<FileStatus.Identity>>([])
}
