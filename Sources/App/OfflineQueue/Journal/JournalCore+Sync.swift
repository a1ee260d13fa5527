package import PrivateFiles

/// A sync of the file that was the journal when the sync was prepared. The sync runs without the lock and without the state.
package struct SyncTask: Sendable {
    fileprivate let file: any JournalFile
    /// The offset up to which the sync covers the file.
    fileprivate let end: Int
    fileprivate let salt: UInt64
    fileprivate let sequence: UInt64
    /// The file system and the path of the folder; `nil` if the name of the file need not be synced.
    fileprivate let folder: (files: any JournalFileSystem, path: String)?

    /// Syncs the file. Also syncs the folder if the name of the file might not survive a loss of power.
    /// - Returns: The guarantee of the system for the synced bytes.
    /// - Throws: The error of the sync. Then pass the task to ``JournalCore/failSync(_:)``, and don't repeat it.
    package func run() throws(FileFailure) -> SyncStrength {
        let strength = try file.syncAll()
        if let folder { try folder.files.syncFolder(folder.path) }
        return strength
    }
}

extension JournalCore {
    /// Whether some frames might not survive a loss of power.
    package var needsSync: Bool { syncedSequence < lastSequence }

    /// Returns a sync of all frames.
    /// - Parameter always: Whether the method returns a sync even if all frames are synced. Use `true` to sync the name of a new segment.
    /// - Returns: The sync; `nil` if no sync is needed.
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

    /// Records that a sync has succeeded.
    /// - Parameters:
    ///   - task: The sync that succeeded.
    ///   - strength: The guarantee that ``SyncTask/run()`` returned.
    package mutating func finishSync(_ task: SyncTask, _ strength: SyncStrength) {
        report.downgrade = strength < .medium ? strength : nil
        syncedSequence = max(syncedSequence, task.sequence)
        // Another segment may have replaced the synced segment.
        guard segment?.header.salt == task.salt else { return }
        segment?.noteSynced(upTo: task.end)
        segment?.isNameSynced = true
    }

    /// Records that a sync has failed. The system may have dropped the bytes, and another sync would succeed without writing them.
    /// Therefore, the journal must write all frames to a new segment.
    /// - Parameter task: The sync that failed.
    package mutating func failSync(_ task: SyncTask) {
        if segment?.header.salt == task.salt { mustRewrite = true }
    }

    /// Writes all frames to a new segment and syncs the segment. Call this method within ``exclusively(_:)``, after a failed sync or to set
    /// the device.
    /// - Parameter device: The digest of the device that the journal then belongs to; `nil` for no change.
    /// - Throws: The error of the file system. All frames are still in the journal.
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
