package import PrivateFiles

/// The calls of the system by which a journal uses its folder: a seam for tests that simulate failures and losses of power.
///
/// Calls may be interrupted (`EINTR`), and may read or write less than requested: the callers repeat them.
package protocol JournalFileSystem: Sendable {
    /// Creates a folder and its parents, for its owner alone, if there is none. Where the system can, excludes it from backups and protects
    /// its files until the first unlock of the device.
    func createFolder(_ path: String) throws(FileFailure)
    /// Returns the names in a folder.
    func names(in folder: String) throws(FileFailure) -> [String]
    /// Opens a file for reading and writing.
    /// - Parameter creating: Whether the file is created, for its owner alone, if there is none.
    func open(_ path: String, creating: Bool) throws(FileFailure) -> any JournalFile
    /// Returns size, links and identity of the file with a name.
    func status(of path: String) throws(FileFailure) -> FileStatus
    /// Gives a file another name in one step. A file that had this name loses it.
    func rename(_ path: String, to newPath: String) throws(FileFailure)
    /// Removes a name. Open files stay readable.
    func remove(_ path: String) throws(FileFailure)
    /// Syncs the names in a folder to the medium.
    func syncFolder(_ path: String) throws(FileFailure)
}

/// An open file of a ``JournalFileSystem``. It is closed when it is released.
package protocol JournalFile: AnyObject, Sendable {
    /// Returns size, links and identity of the open file.
    func status() throws(FileFailure) -> FileStatus
    /// Reads at most a number of bytes; an empty result means the end of the file.
    func read(_ count: Int, at offset: Int) throws(FileFailure) -> [UInt8]
    /// Writes bytes and returns how many were written.
    func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(FileFailure) -> Int
    /// Sets the size of the file.
    func truncate(to size: Int) throws(FileFailure)
    /// Syncs the content to the medium, and returns how far the system brought it.
    func sync() throws(FileFailure) -> SyncStrength
    /// Locks the file and returns whether that succeeded. Does not wait.
    func lock() throws(FileFailure) -> Bool
    /// Releases the lock.
    func unlock()
}

extension OpenFile: JournalFile {}
