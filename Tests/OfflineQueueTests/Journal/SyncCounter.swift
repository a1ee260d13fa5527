import OfflineQueue
import PrivateFiles
import Synchronization

/// The files of the system, and how often they were synced.
final class SyncCounter: JournalFileSystem {
    private final class File: JournalFile {
        let file: any JournalFile
        let counter: SyncCounter

        init(_ file: any JournalFile, _ counter: SyncCounter) { (self.file, self.counter) = (file, counter) }

        func status() throws(FileFailure) -> FileStatus { try file.status() }
        func read(_ count: Int, at offset: Int) throws(FileFailure) -> [UInt8] { try file.read(count, at: offset) }
        func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(FileFailure) -> Int { try file.write(bytes, at: offset) }
        func truncate(to size: Int) throws(FileFailure) { try file.truncate(to: size) }
        func sync() throws(FileFailure) -> SyncStrength {
            let strength = try file.sync()
            counter.syncs.withLock { $0 += 1 }
            return strength
        }
        func lock() throws(FileFailure) -> Bool { try file.lock() }
        func unlock() { file.unlock() }
    }

    private let system = SystemFiles()
    private let syncs = Mutex(0)

    var count: Int { syncs.withLock { $0 } }

    func createFolder(_ path: String) throws(FileFailure) { try system.createFolder(path) }
    func names(in folder: String) throws(FileFailure) -> [String] { try system.names(in: folder) }
    func open(_ path: String, creating: Bool) throws(FileFailure) -> any JournalFile {
        File(try system.open(path, creating: creating), self)
    }
    func status(of path: String) throws(FileFailure) -> FileStatus { try system.status(of: path) }
    func rename(_ path: String, to newPath: String) throws(FileFailure) { try system.rename(path, to: newPath) }
    func remove(_ path: String) throws(FileFailure) { try system.remove(path) }
    func syncFolder(_ path: String) throws(FileFailure) { try system.syncFolder(path) }
}
