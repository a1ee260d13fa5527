package import PrivateFiles

/// A sync that needs neither the lock nor the state.
package struct SyncTask: Sendable {
    fileprivate let file: any JournalFile
    fileprivate let end: Int
    fileprivate let salt: UInt64
    fileprivate let sequence: UInt64
    /// The folder and its files, if the name of the file must be synced too.
    fileprivate let folder: (files: any JournalFileSystem, path: String)?

    package func run() throws(FileFailure) -> SyncStrength {
        let strength = try file.syncAll()
        if let folder { try folder.files.syncFolder(folder.path) }
        return strength
    }
}

extension JournalCore {
    /// Whether frames may not survive a loss of power.
    package var needsSync: Bool { syncedSequence < lastSequence }

    /// Returns what brings all frames to the medium, or `nil` if they are there.
    package func prepareSync(always: Bool = false) -> SyncTask? {
        guard let segment = place, needsSync || always else { return nil }
        return SyncTask(
            file: segment.file,
            end: segment.end,
            salt: segment.header.salt,
            sequence: lastSequence,
            folder: segment.isNameSynced ? nil : (files, folder)
        )
    }

    /// Notes that a sync has succeeded.
    package mutating func finishSync(_ task: SyncTask, _ strength: SyncStrength) {
        report.downgrade = strength < .medium ? strength : nil
        syncedSequence = max(syncedSequence, task.sequence)
        // Another segment may have replaced that one.
        guard segment?.header.salt == task.salt else { return }
        segment?.noteSynced(upTo: task.end)
        segment?.isNameSynced = true
    }

    /// Notes that a sync has failed. The bytes may be lost, although another sync would succeed.
    package mutating func failSync(_ task: SyncTask) {
        if segment?.header.salt == task.salt { mustRewrite = true }
    }

    /// Writes all frames to a new segment and syncs it. For ``exclusively(_:)``, after a sync has failed.
    /// - Parameter device: The device that the journal belongs to from then on.
    package mutating func rewrite(device: UInt128? = nil) throws(FileFailure) {
        guard var compaction = try beginCompaction(keepingAll: true, device: device) else { return }
        do throws(FileFailure) {
            while try compaction.step() {}
            try finish(&compaction)
        } catch {
            compaction.remove()
            throw error
        }
        if let task = prepareSync(always: true) { finishSync(task, try task.run()) }
    }
}
