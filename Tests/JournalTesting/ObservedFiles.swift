import Foundation
package import OfflineQueue
package import PrivateFiles
import Synchronization

/// The files of the system. A test can count their syncs, and can let all further locks fail, as on a device that was locked.
package final class ObservedFiles: JournalFileSystem {
    private let system = SystemFiles()
    fileprivate let syncs = Mutex(0)
    fileprivate let isFailing = Mutex(false)

    package init() {}

    /// The number of syncs of files so far.
    package var syncCount: Int { syncs.withLock(\.self) }

    /// Lets all further locks fail.
    package func fail() { isFailing.withLock { $0 = true } }

    package func createFolder(_ path: String) throws(FileFailure) { try system.createFolder(path) }
    package func names(in folder: String) throws(FileFailure) -> [String] { try system.names(in: folder) }
    package func open(_ path: String, creating: Bool) throws(FileFailure) -> any JournalFile {
        ObservedFile(try system.open(path, creating: creating), self)
    }
    package func status(of path: String) throws(FileFailure) -> FileStatus { try system.status(of: path) }
    package func rename(_ path: String, to newPath: String) throws(FileFailure) { try system.rename(path, to: newPath) }
    package func remove(_ path: String) throws(FileFailure) { try system.remove(path) }
    package func syncFolder(_ path: String) throws(FileFailure) { try system.syncFolder(path) }
}

private final class ObservedFile: JournalFile {
    let file: any JournalFile
    let files: ObservedFiles

    init(_ file: any JournalFile, _ files: ObservedFiles) { (self.file, self.files) = (file, files) }

    func status() throws(FileFailure) -> FileStatus { try file.status() }
    func read(_ count: Int, at offset: Int) throws(FileFailure) -> [UInt8] { try file.read(count, at: offset) }
    func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(FileFailure) -> Int { try file.write(bytes, at: offset) }
    func truncate(to size: Int) throws(FileFailure) { try file.truncate(to: size) }
    func sync() throws(FileFailure) -> SyncStrength {
        let strength = try file.sync()
        files.syncs.withLock { $0 += 1 }
        return strength
    }
    func lock() throws(FileFailure) -> Bool {
        if files.isFailing.withLock(\.self) { throw FileFailure(code: EACCES) }
        return try file.lock()
    }
    func unlock() { file.unlock() }
}
