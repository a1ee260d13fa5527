package import PrivateFiles

/// The calls of the system by which a journal uses its folder. They may be interrupted, and may read or write less than requested.
package protocol JournalFileSystem: Sendable {
    /// Creates a folder, and those above it, for its owner alone, if there is none; excludes it from backups and protects its files until
    /// the device was unlocked once, where the system can.
    func createFolder(_ path: String) throws(FileFailure)
    /// Returns the names in a folder.
    func names(in folder: String) throws(FileFailure) -> [String]
    /// Opens a file for reading and writing.
    /// - Parameter creating: Whether the file is created, for its owner alone, if there is none.
    func open(_ path: String, creating: Bool) throws(FileFailure) -> any JournalFile
    func status(of path: String) throws(FileFailure) -> FileStatus
    /// Gives a file another name, whose earlier file loses it.
    func rename(_ path: String, to newPath: String) throws(FileFailure)
    func remove(_ path: String) throws(FileFailure)
    /// Brings the names in a folder to the medium.
    func syncFolder(_ path: String) throws(FileFailure)
}

/// An open file of a ``JournalFileSystem``. It is closed when it is released.
package protocol JournalFile: AnyObject, Sendable {
    func status() throws(FileFailure) -> FileStatus
    func read(_ count: Int, at offset: Int) throws(FileFailure) -> [UInt8]
    func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(FileFailure) -> Int
    func truncate(to size: Int) throws(FileFailure)
    func sync() throws(FileFailure) -> SyncStrength
    /// Locks the file and returns whether that succeeded; doesn't wait.
    func lock() throws(FileFailure) -> Bool
    func unlock()
}

extension OpenFile: JournalFile {}
