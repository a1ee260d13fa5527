import Foundation
import HoldfastTesting
import JournalTesting
import OfflineQueue
import PrivateFiles
import Testing

/// A journal when calls of the system fail, or when bytes on the disk differ from those that were written.
@Suite struct JournalFaultTests {
    private typealias Core = JournalCore<TestRecords>
    private static let folder = "/disk/queue"
    private static let path = folder + "/journal"

    private static var options: JournalOptions {
        var options = JournalOptions()
        (options.reserve, options.growth, options.isMaintained) = (100, 200, false)
        return options
    }

    private func core(_ disk: SimulatedDisk) -> Core {
        Core(folder: Self.folder, state: TestRecords(), files: disk, options: Self.options)
    }

    /// Opens the journal and returns what it finds.
    private func open(_ disk: SimulatedDisk) throws -> Core {
        var core = core(disk)
        try #require(try core.exclusively { _ in true } == true)
        return core
    }

    /// Appends records in one transaction.
    @discardableResult
    private func append(_ payloads: [UInt8]..., to core: inout Core, usingReserve: Bool = false) throws -> [UInt64] {
        let sequences = try core.exclusively { core in
            try core.transact { _, transaction in
                transaction.usesReserve = usingReserve
                return payloads.map { transaction.append(kind: TestRecords.Kind.record, payload: $0) }
            }
        }
        return try #require(sequences)
    }

    private func end(_ sequence: UInt64, in core: inout Core) throws {
        let isDone: Void? = try core.exclusively { core in
            try core.transact { _, transaction in
                transaction.usesReserve = true
                transaction.append(kind: TestRecords.Kind.end, payload: TestRecords.end(of: sequence))
            }
        }
        try #require(isDone != nil)
    }

    private func sync(_ core: inout Core) throws {
        let task = try #require(core.prepareSync(always: true))
        core.finishSync(task, try task.run())
    }

    /// The offset of bytes in the journal.
    private func offset(of bytes: [UInt8], on disk: SimulatedDisk) throws -> Int {
        let all = try #require(disk.bytes(of: Self.path))
        return try #require(all.indices.first { all[$0...].starts(with: bytes) })
    }

    @Test("Writes all bytes when each write is short") func shortWrites() throws {
        let disk = SimulatedDisk()
        disk.longestWrite = 7
        var core = try open(disk)
        try append([UInt8](repeating: 1, count: 300), [2], to: &core)
        #expect(try open(disk.afterKill()).state.payloads == [[UInt8](repeating: 1, count: 300), [2]])
    }

    @Test("Repeats calls that a signal interrupts") func interruptions() throws {
        let disk = SimulatedDisk()
        var isInterrupted = false
        disk.fail = { call, _ in
            guard [.read, .write, .sync].contains(call) else { return nil }
            isInterrupted.toggle()
            return isInterrupted ? FileFailure(code: EINTR) : nil
        }
        var core = try open(disk)
        try append([1], [2, 3], to: &core)
        try sync(&core)
        #expect(try open(disk.afterKill()).state.payloads == [[1], [2, 3]])
        #expect(core.mustRewrite == false)
    }

    @Test("Preserves earlier records when the disk is full at any byte", arguments: 0..<700) func fullDisk(space: Int) throws {
        let disk = SimulatedDisk()
        var core = try open(disk)
        disk.space = space
        var appended: [[UInt8]] = []
        var failures = 0
        for number in UInt8(0)..<10 {
            let payloads = [[number, 1], [UInt8](repeating: number, count: 50)]
            do {
                try append(payloads[0], payloads[1], to: &core)
                appended += payloads
            } catch let failure as FileFailure {
                #expect(failure.isFull)
                failures += 1
            }
            #expect(core.state.payloads == appended)
            #expect(try open(disk.afterKill()).state.payloads == appended)
        }
        #expect(failures > 0)
        disk.space = nil
        try append([9, 9], to: &core)
        #expect(try open(disk.afterKill()).state.payloads == appended + [[9, 9]])
    }

    @Test("Appends a mark to the reserve of a full disk") func marksOnFullDisk() throws {
        let disk = SimulatedDisk()
        var core = try open(disk)
        let sequences = try append([1], [2], to: &core)
        disk.space = 0
        #expect(throws: FileFailure(code: ENOSPC)) {
            while true { try append([UInt8](repeating: 3, count: 20), to: &core) }
        }
        let before = core.state.payloads.count
        try end(sequences[0], in: &core)
        try end(sequences[1], in: &core)
        // Compaction needs space; without it, the journal stays as it is.
        #expect(throws: FileFailure(code: ENOSPC)) { try core.beginCompaction() }
        let found = try open(disk.afterKill()).state
        #expect(found.payloads.count == before - 2)
        #expect(!found.payloads.contains([1]) && !found.payloads.contains([2]))
    }

    @Test("Rewrites the frames when a sync fails, before a durable append succeeds") func failedSync() async throws {
        let disk = SimulatedDisk()
        let journal = try await Journal.open(Self.folder, state: TestRecords(), files: disk, options: Self.options)
        try await journal.transact { _, transaction in transaction.append(kind: 1, payload: [1]) }
        var failures = 1
        disk.fail = { call, _ in
            guard call == .sync, failures > 0 else { return nil }
            failures -= 1
            return .damaged
        }
        try await journal.transact(durability: .powerLoss) { _, transaction in transaction.append(kind: 1, payload: [2]) }
        var random = SplitMix64(seed: 1)
        for _ in 0..<20 { #expect(try open(disk.afterPowerLoss(&random)).state.payloads == [[1], [2]]) }
    }

    @Test("Fails a durable append if no sync succeeds, and never syncs a file again") func failedSyncs()
        async throws
    {
        let disk = SimulatedDisk()
        let journal = try await Journal.open(Self.folder, state: TestRecords(), files: disk, options: Self.options)
        var synced: [String] = []
        disk.fail = { call, path in
            guard call == .sync else { return nil }
            synced.append(path)
            return .damaged
        }
        for payload in UInt8(1)...2 {
            await #expect(throws: (any Error).self) {
                try await journal.transact(durability: .powerLoss) { _, transaction in
                    transaction.append(kind: 1, payload: [payload])
                }
            }
        }
        #expect(Set(synced).count == synced.count)
        disk.fail = nil
        try await journal.transact(durability: .powerLoss) { _, transaction in transaction.append(kind: 1, payload: [3]) }
        var random = SplitMix64(seed: 1)
        for _ in 0..<20 { #expect(try open(disk.afterPowerLoss(&random)).state.payloads == [[1], [3]]) }
    }

    @Test("Reports a weak sync, and finds frames in order after a loss of power") func downgradedSync()
        throws
    {
        var random = SplitMix64(seed: 7)
        for _ in 0..<200 {
            let disk = SimulatedDisk()
            disk.syncStrength = .drive
            var core = try open(disk)
            for number in UInt8(0)..<8 {
                try append([number], to: &core)
                try sync(&core)
            }
            #expect(core.report.downgrade == .drive)
            let found = try open(disk.afterPowerLoss(&random)).state.payloads
            #expect(found == found.sorted { $0[0] < $1[0] })
        }
    }

    @Test("Syncs the folder before the first durable append, and after a compaction") func syncsFolder() throws {
        var random = SplitMix64(seed: 3)
        for _ in 0..<50 {
            let disk = SimulatedDisk()
            var core = try open(disk)
            try append([1], to: &core)
            try sync(&core)
            #expect(try open(disk.afterPowerLoss(&random)).state.payloads == [[1]])
            var compaction = try #require(try core.beginCompaction())
            while try compaction.step() {}
            #expect(try core.exclusively { core in try core.finish(&compaction) } == true)
            try append([2], to: &core)
            try sync(&core)
            #expect(try open(disk.afterPowerLoss(&random)).state.payloads == [[1], [2]])
        }
    }

    @Test("Reads zeros as the end of the frames, and a file of zeros as damage", arguments: [0, 1, 4_096, 100_000])
    func zeros(count: Int) throws {
        let disk = SimulatedDisk()
        var core = try open(disk)
        try append([1], to: &core)
        disk.damage(Self.path) { $0 += [UInt8](repeating: 0, count: count) }
        let found = try open(disk.afterKill())
        #expect(found.state.payloads == [[1]])
        #expect(found.report == RecoveryReport())
        disk.damage(Self.path) { $0 = [UInt8](repeating: 0, count: count) }
        let lost = try open(disk.afterKill())
        #expect(lost.state.payloads == [])
        #expect(lost.report.quarantined.count == 1)
    }

    @Test("Ignores a payload whose bytes have the form of a frame") func framesInPayloads() throws {
        let disk = SimulatedDisk()
        var core = try open(disk)
        try append([UInt8](repeating: 5, count: 30), to: &core)
        let start = try offset(of: [50, 0, 0, 0], on: disk)
        let frame = Array(try #require(disk.bytes(of: Self.path))[start..<start + 50])
        try append(frame + frame, to: &core)
        try append([6], to: &core)
        // The header of the frame that contains them.
        disk.damage(Self.path) { $0[start + 50] ^= 1 }
        let found = try open(disk.afterKill())
        #expect(found.state.payloads == [[UInt8](repeating: 5, count: 30)])
        #expect(found.report.cutFrames == 1)
    }

    @Test("Reads no more than the file for a frame that claims to be huge", arguments: [UInt32.max, 1 << 26, 10_000])
    func hugeLength(length: UInt32) throws {
        let disk = SimulatedDisk()
        var core = try open(disk)
        try append([1], to: &core)
        try append([0xAB, 0xCD, 0xEF], to: &core)
        let start = try offset(of: [23, 0, 0, 0], on: disk)
        disk.damage(Self.path) {
            $0.replaceSubrange(start..<start + 4, with: (0..<4).map { UInt8(truncatingIfNeeded: length >> ($0 * 8)) })
        }
        let found = try open(disk.afterKill())
        #expect(found.state.payloads == [[1]])
        #expect(found.report.cutBytes == 23)
    }

    @Test("Cuts the frames behind a hole that a loss of power left") func hole() throws {
        let disk = SimulatedDisk()
        var core = try open(disk)
        try append([1], to: &core)
        try sync(&core)
        try append([0xAB, 0xCD], to: &core)
        try append([3], to: &core)
        let start = try offset(of: [22, 0, 0, 0], on: disk)
        disk.damage(Self.path) { $0.replaceSubrange(start..<start + 22, with: repeatElement(0, count: 22)) }
        let found = try open(disk.afterKill())
        #expect(found.state.payloads == [[1]])
        #expect(found.report.cutFrames == 1)
        #expect(found.report.quarantined.isEmpty)
    }

    @Test("Sets synced damaged frames aside, reports them, and keeps later frames", arguments: [true, false])
    func damage(isCompacted: Bool) throws {
        let disk = SimulatedDisk()
        var core = try open(disk)
        try append([1], to: &core)
        // A transaction of which one frame is damaged: none of its frames counts.
        try append([2], [0xAB, 0xCD], [4], to: &core)
        try append([5], to: &core)
        try sync(&core)
        if isCompacted {
            var compaction = try #require(try core.beginCompaction())
            while try compaction.step() {}
            #expect(try core.exclusively { core in try core.finish(&compaction) } == true)
        } else {
            _ = try core.exclusively { core in try core.mark() }
        }
        try append([6], to: &core)
        let start = try offset(of: [0xAB, 0xCD], on: disk)
        disk.damage(Self.path) { $0[start] ^= 0x10 }
        let found = try open(disk)
        let expected: [[UInt8]] = isCompacted ? [[1], [2], [4], [5], [6]] : [[1], [5], [6]]
        #expect(found.state.payloads == expected)
        let quarantine = try #require(found.report.quarantined.first)
        #expect(quarantine.range.contains(start))
        let file = try #require(quarantine.file)
        #expect(disk.bytes(of: file)?.count == quarantine.range.count)
        // The journal is whole again.
        let next = try open(disk.afterKill())
        #expect(next.state.payloads == expected)
        #expect(next.report == RecoveryReport())
    }

    @Test("Opens with damaged frames on a full disk, and reports them each time") func damageOnFullDisk() throws {
        let disk = SimulatedDisk()
        var core = try open(disk)
        try append([1], to: &core)
        try append([0xAB, 0xCD], to: &core)
        try append([3], to: &core)
        try sync(&core)
        _ = try core.exclusively { core in try core.mark() }
        let start = try offset(of: [0xAB, 0xCD], on: disk)
        disk.damage(Self.path) { $0[start] ^= 0x10 }
        disk.space = 0
        for _ in 0..<2 {
            let found = try open(disk)
            #expect(found.state.payloads == [[1], [3]])
            #expect(found.report.quarantined.map(\.file) == [nil])
        }
        disk.space = nil
        #expect(try open(disk).report.quarantined.first?.file != nil)
    }

    @Test("Reads the copy of the header when the header is damaged") func damagedHeader() throws {
        let disk = SimulatedDisk()
        var core = try open(disk)
        try append([1], to: &core)
        disk.damage(Self.path) { $0[20] ^= 1 }
        #expect(try open(disk.afterKill()).state.payloads == [[1]])
    }

    @Test("Changes nothing while the device is locked", arguments: [SimulatedDisk.Call.open, .read, .list, .lock, .status])
    func lockedDevice(call: SimulatedDisk.Call) async throws {
        let disk = SimulatedDisk()
        var core = try open(disk)
        try append([1], to: &core)
        try sync(&core)
        let (bytes, names) = (disk.bytes(of: Self.path), disk.fileNames)
        disk.fail = { failing, _ in failing == call ? FileFailure(code: EPERM) : nil }
        await #expect(throws: JournalError.locked) {
            _ = try await Journal.open(Self.folder, state: TestRecords(), files: disk, options: Self.options)
        }
        #expect(disk.bytes(of: Self.path) == bytes)
        #expect(disk.fileNames == names)
        disk.fail = nil
        #expect(try open(disk).state.payloads == [[1]])
    }

    @Test("Does not change a journal of a newer version") func newerVersion() async throws {
        let disk = SimulatedDisk()
        var core = try open(disk)
        try append([1], to: &core)
        try sync(&core)
        disk.damage(Self.path) { $0[8] = 2 }
        let bytes = disk.bytes(of: Self.path)
        let journal = try await Journal.open(Self.folder, state: TestRecords(), files: disk, options: Self.options)
        #expect(journal.report.newerVersion == 2)
        await #expect(throws: JournalError.newerVersion(2)) {
            try await journal.transact { _, transaction in transaction.append(kind: 1, payload: [2]) }
        }
        try await journal.compact()
        try await journal.adopt()
        #expect(disk.bytes(of: Self.path) == bytes)
    }

    @Test("Holds no lock when a call has returned or failed") func locks() async throws {
        let disk = SimulatedDisk()
        let journal = try await Journal.open(Self.folder, state: TestRecords(), files: disk, options: Self.options)
        #expect(disk.locked.isEmpty)
        try await journal.transact(durability: .powerLoss) { _, transaction in transaction.append(kind: 1, payload: [1]) }
        #expect(disk.locked.isEmpty)
        disk.fail = { call, _ in call == .write ? .damaged : nil }
        await #expect(throws: (any Error).self) {
            try await journal.transact { _, transaction in transaction.append(kind: 1, payload: [1]) }
        }
        await #expect(throws: (any Error).self) { try await journal.compact() }
        #expect(disk.locked.isEmpty)
    }

    @Test("Finds exactly the acknowledged records after a crash at each call and byte", arguments: 1...6)
    func randomHistories(seed: UInt64) throws {
        #expect(JournalSimulation(seed: seed).run(steps: 15).failures == [])
    }
}
