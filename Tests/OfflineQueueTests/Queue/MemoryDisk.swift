import Foundation
import PrivateFiles
import Synchronization

@testable import OfflineQueue

/// A disk in memory that several processes of a test share. A loss of power cuts files somewhere behind their last sync.
final class MemoryDisk: Sendable {
    struct Content: Sendable {
        var inode: UInt64
        var bytes: [UInt8] = []
        var synced = 0
        var holder: ObjectIdentifier?
    }

    struct State: Sendable {
        var files: [UInt64: Content] = [:]
        var names: [String: UInt64] = [:]
        var folders: Set<String> = []
        var next: UInt64 = 1
        var room = Int.max
        var failure: Int32?
        /// The number of syncs that fail next.
        var failingSyncs = 0
    }

    let state = Mutex(State())

    /// Loses bytes that were not synced: each file keeps some of them.
    func losePower(using random: inout some RandomNumberGenerator) {
        state.withLock { state in
            for (number, file) in state.files {
                state.files[number]?.holder = nil
                guard file.bytes.count > file.synced else { continue }
                let kept = Int.random(in: file.synced...file.bytes.count, using: &random)
                state.files[number]?.bytes = Array(file.bytes[..<kept])
            }
        }
    }

    /// Makes all calls fail with this error of the system.
    func fail(with code: Int32?) { state.withLock { $0.failure = code } }

    /// Limits the free space to a number of bytes.
    func leave(_ room: Int) { state.withLock { $0.room = room } }
}

/// The disk as one process uses it, until the process is killed.
final class MemoryFiles: JournalFileSystem {
    let disk: MemoryDisk
    private let isDead = Mutex(false)

    init(_ disk: MemoryDisk) { self.disk = disk }

    /// Kills the process: its further calls have no effect, and its locks are released.
    func kill() {
        isDead.withLock { $0 = true }
        disk.state.withLock { state in
            for (number, file) in state.files where file.holder != nil { release(number, &state) }
        }
    }

    private func release(_ number: UInt64, _ state: inout MemoryDisk.State) {
        if state.files[number]?.holder == ObjectIdentifier(self) { state.files[number]?.holder = nil }
    }

    func run<Value>(_ body: (inout MemoryDisk.State) throws(FileFailure) -> Value) throws(FileFailure) -> Value {
        try disk.state.withLock { state throws(FileFailure) in
            guard !isDead.withLock(\.self) else { throw FileFailure(code: EIO) }
            if let code = state.failure { throw FileFailure(code: code) }
            return try body(&state)
        }
    }

    func createFolder(_ path: String) throws(FileFailure) { try run { _ = $0.folders.insert(path) } }

    func names(in folder: String) throws(FileFailure) -> [String] {
        try run { state in
            state.names.keys.filter { $0.hasPrefix(folder + "/") }.map { String($0.dropFirst(folder.count + 1)) }
        }
    }

    func open(_ path: String, creating: Bool) throws(FileFailure) -> any JournalFile {
        try run { state throws(FileFailure) in
            if let number = state.names[path] { return MemoryFile(number, self) }
            let folder = path.split(separator: "/").dropLast().joined(separator: "/")
            guard creating, state.folders.contains("/" + folder) else { throw FileFailure(code: ENOENT) }
            state.next += 1
            state.files[state.next] = MemoryDisk.Content(inode: state.next)
            state.names[path] = state.next
            return MemoryFile(state.next, self)
        }
    }

    func status(of path: String) throws(FileFailure) -> FileStatus {
        try run { state throws(FileFailure) in
            if state.folders.contains(path) { return FileStatus(identity: .init(device: 1, inode: 1), size: 0, links: 1) }
            guard let number = state.names[path] else { throw FileFailure(code: ENOENT) }
            return try MemoryFile.status(number, state)
        }
    }

    func rename(_ path: String, to newPath: String) throws(FileFailure) {
        try run { state throws(FileFailure) in
            guard let number = state.names.removeValue(forKey: path) else { throw FileFailure(code: ENOENT) }
            state.names[newPath] = number
        }
    }

    func remove(_ path: String) throws(FileFailure) {
        try run { state throws(FileFailure) in
            guard state.names.removeValue(forKey: path) != nil else { throw FileFailure(code: ENOENT) }
        }
    }

    func syncFolder(_ path: String) throws(FileFailure) { try run { _ in } }
}

final class MemoryFile: JournalFile {
    let number: UInt64
    let files: MemoryFiles

    init(_ number: UInt64, _ files: MemoryFiles) { (self.number, self.files) = (number, files) }

    static func status(_ number: UInt64, _ state: MemoryDisk.State) throws(FileFailure) -> FileStatus {
        guard let file = state.files[number] else { throw FileFailure(code: ENOENT) }
        return FileStatus(identity: .init(device: 1, inode: file.inode), size: file.bytes.count, links: 1)
    }

    func status() throws(FileFailure) -> FileStatus {
        try files.run { state throws(FileFailure) in try Self.status(number, state) }
    }

    func read(_ count: Int, at offset: Int) throws(FileFailure) -> [UInt8] {
        try files.run { state in
            let bytes = state.files[number]?.bytes ?? []
            return offset < bytes.count ? Array(bytes[offset..<min(bytes.count, offset + count)]) : []
        }
    }

    func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(FileFailure) -> Int {
        try files.run { state throws(FileFailure) in
            let size = state.files[number]?.bytes.count ?? 0
            let growth = max(0, offset + bytes.count - size)
            guard growth <= state.room else { throw FileFailure(code: ENOSPC) }
            state.room -= state.room == .max ? 0 : growth
            if offset + bytes.count > size {
                let zeros = [UInt8](repeating: 0, count: offset + bytes.count - size)
                state.files[number]?.bytes.append(contentsOf: zeros)
            }
            state.files[number]?.bytes.replaceSubrange(offset..<offset + bytes.count, with: bytes)
            return bytes.count
        }
    }

    func truncate(to size: Int) throws(FileFailure) {
        try files.run { state in
            let present = state.files[number]?.bytes.count ?? 0
            if size < present {
                state.files[number]?.bytes.removeSubrange(size...)
            } else {
                state.files[number]?.bytes.append(contentsOf: [UInt8](repeating: 0, count: size - present))
            }
            let synced = min(state.files[number]?.synced ?? 0, size)
            state.files[number]?.synced = synced
        }
    }

    func sync() throws(FileFailure) -> SyncStrength {
        try files.run { state throws(FileFailure) in
            if state.failingSyncs > 0 {
                state.failingSyncs -= 1
                throw FileFailure(code: EIO)
            }
            let size = state.files[number]?.bytes.count ?? 0
            state.files[number]?.synced = size
            return .medium
        }
    }

    func lock() throws(FileFailure) -> Bool {
        try files.run { state in
            guard state.files[number]?.holder == nil else { return false }
            state.files[number]?.holder = ObjectIdentifier(files)
            return true
        }
    }

    func unlock() {
        files.disk.state.withLock { state in
            if state.files[number]?.holder == ObjectIdentifier(files) { state.files[number]?.holder = nil }
        }
    }
}
