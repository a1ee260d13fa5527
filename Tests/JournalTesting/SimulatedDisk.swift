package import HoldfastTesting
package import OfflineQueue
package import PrivateFiles

/// A simulated folder on a disk. At a loss of power it keeps all synced bytes, and any part of the others: pieces of writes, in any order,
/// with or without the sizes and the names that belong to them.
///
/// For one thread at a time.
package final class SimulatedDisk: JournalFileSystem, @unchecked Sendable {
    /// A call that changes the disk, or could fail.
    package enum Call: Hashable, Sendable {
        case createFolder, list, open, read, write, truncate, sync, syncFolder, rename, remove, status, lock
    }

    fileprivate enum Change {
        case write(offset: Int, bytes: [UInt8])
        case size(Int)
    }

    fileprivate struct File {
        var bytes: [UInt8] = []
        /// The bytes on the medium.
        var medium: [UInt8] = []
        /// The changes since the last sync. A loss of power keeps any of them.
        var changes: [Change] = []
    }

    /// The content of the disk. A copy is cheap.
    package struct Image {
        fileprivate var files: [UInt64: File] = [:]
        fileprivate var names: [String: UInt64] = [:]
        fileprivate var mediumNames: [String: UInt64] = [:]
        /// The changes of names since the last sync of the folder. A loss of power keeps each change as a whole, or loses it.
        fileprivate var nameChanges: [[(name: String, file: UInt64?)]] = []
        fileprivate var lastFile: UInt64 = 1
        package var hasFolder = false
    }

    package var image: Image
    /// Runs before each call, and for a write after each byte if ``observesBytes`` is set.
    package var observe: ((Call) -> Void)?
    package var observesBytes = true
    /// Decides whether a call fails. A write that fails may have written a part.
    package var fail: ((Call, _ path: String) -> FileFailure?)?
    /// The largest number of bytes that one write writes.
    package var longestWrite = Int.max
    /// The number of bytes by which files may still grow; `nil` for no limit.
    package var space: Int?
    /// How far a sync brings the bytes. Below `medium`, a sync has no effect.
    package var syncStrength = SyncStrength.medium
    /// The locked files, for checks that no lock outlives a call.
    package private(set) var locked: [UInt64: ObjectIdentifier] = [:]

    package init(_ image: Image = Image()) { self.image = image }

    /// Returns the disk after a kill of all processes.
    package func afterKill() -> SimulatedDisk { SimulatedDisk(image) }

    /// Returns the disk after a loss of power.
    package func afterPowerLoss(_ random: inout SplitMix64) -> SimulatedDisk {
        var result = image
        // All changes, none, some, or the first ones.
        let mode = Int.random(in: 0..<5, using: &random)
        func isLucky(_ random: inout SplitMix64) -> Bool { mode == 0 || mode > 1 && Bool.random(using: &random) }
        result.names = image.mediumNames
        for change in image.nameChanges where isLucky(&random) {
            for (name, file) in change { result.names[name] = file }
        }
        for (number, file) in image.files.sorted(by: { $0.key < $1.key }) {
            var bytes = file.medium
            var changes = file.changes
            if mode == 2 { changes.shuffle(using: &random) }
            if mode == 3 { changes = Array(changes.prefix(Int.random(in: 0...changes.count, using: &random))) }
            for change in changes {
                switch change {
                case .size(let size):
                    if mode == 3 || isLucky(&random) { bytes.resize(to: size) }
                case .write(let offset, let written):
                    for (start, piece) in pieces(written, at: offset, whole: mode == 3, &random)
                    where mode == 3 || isLucky(&random) {
                        bytes.resize(to: max(bytes.count, start + piece.count))
                        bytes.replaceSubrange(start..<start + piece.count, with: piece)
                    }
                }
            }
            // The size is metadata: it may be older than the bytes.
            if mode == 4, bytes.count > file.medium.count, Bool.random(using: &random) {
                bytes.resize(to: Int.random(in: file.medium.count...bytes.count, using: &random))
            }
            result.files[number] = File(bytes: bytes, medium: bytes)
        }
        result.mediumNames = result.names
        result.nameChanges = []
        return SimulatedDisk(result)
    }

    /// Parts of a write: by sectors, or torn at any byte.
    private func pieces(
        _ bytes: [UInt8],
        at offset: Int,
        whole: Bool,
        _ random: inout SplitMix64
    ) -> [(offset: Int, bytes: ArraySlice<UInt8>)] {
        guard !whole, bytes.count > 1 else { return [(offset, bytes[...])] }
        let isTorn = Bool.random(using: &random)
        var pieces: [(Int, ArraySlice<UInt8>)] = []
        var start = 0
        while start < bytes.count {
            let length = isTorn ? Int.random(in: 1...max(1, bytes.count / 2), using: &random) : 512 - (offset + start) % 512
            let end = min(bytes.count, start + length)
            pieces.append((offset + start, bytes[start..<end]))
            start = end
        }
        return pieces.shuffled(using: &random)
    }
}

extension SimulatedDisk {
    private func begin(_ call: Call, _ path: String) throws(FileFailure) {
        observe?(call)
        if let failure = fail?(call, path) { throw failure }
    }

    private func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }

    package func createFolder(_ path: String) throws(FileFailure) {
        try begin(.createFolder, path)
        image.hasFolder = true
    }

    package func names(in folder: String) throws(FileFailure) -> [String] {
        try begin(.list, folder)
        return image.names.keys.sorted()
    }

    package func open(_ path: String, creating: Bool) throws(FileFailure) -> any JournalFile {
        try begin(.open, path)
        guard image.hasFolder else { throw .missing }
        if let number = image.names[name(path)] { return SimulatedFile(disk: self, number: number, path: path) }
        guard creating else { throw .missing }
        if space == 0 { throw FileFailure(code: 28) }
        image.lastFile += 1
        image.files[image.lastFile] = File()
        setNames([(name(path), image.lastFile)])
        return SimulatedFile(disk: self, number: image.lastFile, path: path)
    }

    package func status(of path: String) throws(FileFailure) -> FileStatus {
        try begin(.status, path)
        guard let number = image.names[name(path)] else {
            guard image.hasFolder, !image.names.keys.contains(where: { path.hasSuffix("/" + $0) }), !path.hasSuffix("/lock")
            else {
                throw .missing
            }
            // The folder.
            return FileStatus(identity: .init(device: 1, inode: 1), size: 0, links: 1)
        }
        return status(number)
    }

    package func rename(_ path: String, to newPath: String) throws(FileFailure) {
        try begin(.rename, path)
        guard let number = image.names[name(path)] else { throw .missing }
        setNames([(name(path), nil), (name(newPath), number)])
    }

    package func remove(_ path: String) throws(FileFailure) {
        try begin(.remove, path)
        if image.names[name(path)] != nil { setNames([(name(path), nil)]) }
    }

    package func syncFolder(_ path: String) throws(FileFailure) {
        try begin(.syncFolder, path)
        guard syncStrength == .medium else { return }
        image.mediumNames = image.names
        image.nameChanges = []
    }

    private func setNames(_ changes: [(name: String, file: UInt64?)]) {
        for (name, file) in changes { image.names[name] = file }
        image.nameChanges.append(changes)
    }

    /// The bytes of a file.
    package func bytes(of path: String) -> [UInt8]? { image.names[name(path)].flatMap { image.files[$0]?.bytes } }

    /// Names of the files.
    package var fileNames: [String] { image.names.keys.sorted() }

    /// Changes a file as a failure of the medium does.
    package func damage(_ path: String, _ change: (inout [UInt8]) -> Void) {
        guard let number = image.names[name(path)], var file = image.files[number] else { return }
        change(&file.bytes)
        file.medium = file.bytes
        file.changes = []
        image.files[number] = file
    }

    fileprivate func status(_ number: UInt64) -> FileStatus {
        FileStatus(
            identity: .init(device: 1, inode: number),
            size: image.files[number]?.bytes.count ?? 0,
            links: image.names.values.contains(number) ? 1 : 0
        )
    }

    fileprivate func read(_ number: UInt64, _ path: String, _ count: Int, at offset: Int) throws(FileFailure) -> [UInt8] {
        try begin(.read, path)
        guard let bytes = image.files[number]?.bytes, offset < bytes.count else { return [] }
        return Array(bytes[offset..<min(bytes.count, offset + count)])
    }

    fileprivate func write(_ number: UInt64, _ path: String, _ bytes: ArraySlice<UInt8>, at offset: Int) throws(FileFailure)
        -> Int
    {
        let size = image.files[number]?.bytes.count ?? 0
        var count = min(bytes.count, longestWrite)
        let failure = fail?(.write, path)
        if failure != nil { count /= 2 }
        if let space { count = min(count, max(0, size + space - offset)) }
        if let observe {
            observe(.write)
            for length in 1..<max(1, count) where observesBytes {
                let full = image
                change(number, .write(offset: offset, bytes: Array(bytes.prefix(length))))
                observe(.write)
                image = full
            }
        }
        if count > 0 { change(number, .write(offset: offset, bytes: Array(bytes.prefix(count)))) }
        if let space { self.space = space - max(0, offset + count - size) }
        if let failure { throw failure }
        // ENOSPC
        if count == 0, !bytes.isEmpty { throw FileFailure(code: 28) }
        return count
    }

    fileprivate func truncate(_ number: UInt64, _ path: String, to size: Int) throws(FileFailure) {
        try begin(.truncate, path)
        change(number, .size(size))
    }

    fileprivate func sync(_ number: UInt64, _ path: String) throws(FileFailure) -> SyncStrength {
        observe?(.sync)
        if let failure = fail?(.sync, path) {
            // The pages count as clean although the medium doesn't have them.
            image.files[number]?.changes = []
            throw failure
        }
        guard syncStrength == .medium else { return syncStrength }
        let bytes = image.files[number]?.bytes ?? []
        image.files[number]?.medium = bytes
        image.files[number]?.changes = []
        return .medium
    }

    private func change(_ number: UInt64, _ change: Change) {
        guard var file = image.files[number] else { return }
        image.files[number] = nil
        switch change {
        case .size(let size): file.bytes.resize(to: size)
        case .write(let offset, let bytes):
            file.bytes.resize(to: max(file.bytes.count, offset + bytes.count))
            file.bytes.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        }
        file.changes.append(change)
        image.files[number] = file
    }

    fileprivate func lock(_ number: UInt64, _ path: String, owner: ObjectIdentifier) throws(FileFailure) -> Bool {
        try begin(.lock, path)
        guard locked[number] == nil else { return false }
        locked[number] = owner
        return true
    }

    fileprivate func unlock(_ number: UInt64, owner: ObjectIdentifier) {
        if locked[number] == owner { locked[number] = nil }
    }
}

private final class SimulatedFile: JournalFile {
    private let disk: SimulatedDisk
    private let number: UInt64
    private let path: String

    init(disk: SimulatedDisk, number: UInt64, path: String) {
        (self.disk, self.number, self.path) = (disk, number, path)
    }

    deinit { unlock() }

    func status() throws(FileFailure) -> FileStatus { disk.status(number) }
    func read(_ count: Int, at offset: Int) throws(FileFailure) -> [UInt8] { try disk.read(number, path, count, at: offset) }
    func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(FileFailure) -> Int {
        try disk.write(number, path, bytes, at: offset)
    }
    func truncate(to size: Int) throws(FileFailure) { try disk.truncate(number, path, to: size) }
    func sync() throws(FileFailure) -> SyncStrength { try disk.sync(number, path) }
    func lock() throws(FileFailure) -> Bool { try disk.lock(number, path, owner: ObjectIdentifier(self)) }
    func unlock() { disk.unlock(number, owner: ObjectIdentifier(self)) }
}

extension [UInt8] {
    fileprivate mutating func resize(to size: Int) {
        if size < count { removeLast(count - size) } else { append(contentsOf: repeatElement(0, count: size - count)) }
    }
}
