package import PrivateFiles

/// The system calls that a journal uses for its folder. Tests use another implementation to simulate failures and losses of power.
///
/// Calls may be interrupted (`EINTR`), and may read or write fewer bytes than requested. The callers repeat such calls.
package protocol JournalFileSystem: Sendable {
    /// Creates a missing folder and its parents with access for the owner only. If the system supports it, the folder is excluded from
    /// backups, and its files are protected until the first unlock of the device.
    func createFolder(_ path: String) throws(FileFailure)
    /// Returns the names in a folder.
    func names(in folder: String) throws(FileFailure) -> [String]
    /// Opens a file for reading and writing.
    /// - Parameter creating: Whether a missing file is created, with access for the owner only.
    func open(_ path: String, creating: Bool) throws(FileFailure) -> any JournalFile
    /// Returns the size, the number of links and the identity of the file at a path.
    func status(of path: String) throws(FileFailure) -> FileStatus
    /// Renames a file atomically. If another file has the new name, that file loses the name.
    func rename(_ path: String, to newPath: String) throws(FileFailure)
    /// Removes a name. Open files stay readable.
    func remove(_ path: String) throws(FileFailure)
    /// Syncs the names in a folder to the medium.
    func syncFolder(_ path: String) throws(FileFailure)
}

/// An open file of a ``JournalFileSystem``. The file is closed when this object is released.
package protocol JournalFile: AnyObject, Sendable {
    /// Returns the size, the number of links and the identity of the open file.
    func status() throws(FileFailure) -> FileStatus
    /// Reads at most `count` bytes. An empty result means the end of the file.
    func read(_ count: Int, at offset: Int) throws(FileFailure) -> [UInt8]
    /// Writes bytes and returns the number of bytes that were written.
    func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(FileFailure) -> Int
    /// Sets the size of the file.
    func truncate(to size: Int) throws(FileFailure)
    /// Syncs the content to the medium. Returns the guarantee of the system for the bytes.
    func sync() throws(FileFailure) -> SyncStrength
    /// Locks the file and returns whether the lock was free. The method doesn't wait.
    func lock() throws(FileFailure) -> Bool
    /// Releases the lock.
    func unlock()
}

extension OpenFile: JournalFile {}
