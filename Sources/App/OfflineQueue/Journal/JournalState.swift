package import PrivateFiles
package import Timekeeping

/// A frame of a journal: bytes that the journal stores and doesn't interpret.
package struct JournalFrame: Hashable, Sendable {
    package var header: JournalFrameHeader
    package var payload: [UInt8]

    package init(header: JournalFrameHeader, payload: [UInt8]) {
        (self.header, self.payload) = (header, payload)
    }
}

/// The description of a frame without its payload.
package struct JournalFrameHeader: Hashable, Sendable {
    /// The meaning of the payload, which the user of the journal defines: 1 to 255. 0 is reserved for the journal.
    package var kind: UInt8
    /// The number of the frame. It grows by at least one from frame to frame, and stays the same when the journal is compacted. It is the
    /// location from which ``Journal/payload(of:)`` reads. Only numbers of frames that a loss of power removed are used again.
    package var sequence: UInt64
    /// How many bytes the frame occupies in the file.
    package var storedSize: Int

    package init(kind: UInt8, sequence: UInt64, storedSize: Int) {
        (self.kind, self.sequence, self.storedSize) = (kind, sequence, storedSize)
    }
}

/// A value that is derived from the frames of a journal, and from nothing else.
///
/// The journal applies each frame exactly once, in the order of the sequence numbers, whether it was found when the journal was opened, was
/// appended by another process or by this one. So there is one code path for all of them. A frame that this process appends is applied when
/// its transaction has succeeded.
///
/// The state is a value: the journal compacts by a copy, while the original changes.
package protocol JournalState: Sendable {
    /// Removes everything that was derived from frames: all frames that count are applied next, including those that were applied before.
    ///
    /// The journal calls it when it is opened, and when another process has compacted it. Frames that the compaction dropped are not
    /// applied.
    mutating func restart()

    /// Applies a frame.
    mutating func apply(_ frame: JournalFrame)

    /// Returns whether a compaction keeps a frame that was applied. Frames of unknown kinds must be kept.
    func keeps(_ frame: JournalFrameHeader) -> Bool

    /// The sum of ``JournalFrameHeader/storedSize`` of the frames that a compaction would keep. O(1).
    var liveBytes: Int { get }
}

/// The frames that a transaction appends.
package struct JournalTransaction {
    /// The sequence number of the next frame.
    package private(set) var nextSequence: UInt64
    /// Whether the frames may use the space that is reserved for a full disk: for small marks, such as that a record was delivered.
    package var usesReserve = false
    private(set) var frames: [JournalFrame] = []
    private(set) var size = 0

    init(nextSequence: UInt64) { self.nextSequence = nextSequence }

    /// Appends a frame and returns its sequence number.
    /// - Precondition: `kind` isn't 0.
    @discardableResult package mutating func append(kind: UInt8, payload: [UInt8]) -> UInt64 {
        precondition(kind != 0, "the kind 0 is the journal's")
        let header = JournalFrameHeader(kind: kind, sequence: nextSequence, storedSize: FrameFormat.headerSize + payload.count)
        frames.append(JournalFrame(header: header, payload: payload))
        size += header.storedSize
        nextSequence += 1
        return header.sequence
    }
}

/// The failures that the frames of a transaction survive when ``Journal/transact(durability:_:)`` returns.
package enum JournalDurability: Sendable {
    /// The end of the process, however it ends. A loss of power is survived within ``JournalOptions/syncDelay``.
    case processKill
    /// A loss of power.
    case powerLoss
}

/// The settings of a journal.
package struct JournalOptions: Sendable {
    /// The largest payload of a frame, in bytes.
    package var maximumPayload = 16 * 1024 * 1024
    /// The longest time until a frame survives a loss of power.
    package var syncDelay: Duration = .milliseconds(50)
    /// The longest wait for the lock of another process, after which a call throws ``JournalError/busy``.
    package var lockTimeout: Duration = .seconds(10)
    /// The clock on which a wait for another process is slept.
    package var clock = MonotonicClock.continuous
    /// The space in bytes that ordinary frames leave free, for small marks on a full disk (``JournalTransaction/usesReserve``).
    package var reserve = 64 * 1024
    /// The number of bytes by which the file grows, beside the reserve, when the frames need space.
    package var growth = 128 * 1024
    /// The journal is compacted when its dead bytes exceed this number and the live bytes.
    package var compactionThreshold = 1024 * 1024
    /// Names the device, such as by a value in the Keychain that stays on it. By default it is the identity of the folder, which a restored
    /// backup or a copy doesn't keep.
    package var deviceID: String?
    /// Whether the journal syncs and compacts on its own. If not, only calls of ``Journal/sync()`` and ``Journal/compact()`` do: for tests.
    package var isMaintained = true

    package init() {}
}

/// The findings when the journal was opened, and of later repairs.
package struct RecoveryReport: Hashable, Sendable {
    /// A range of damaged bytes that was copied to a separate file.
    package struct Quarantine: Hashable, Sendable {
        /// Where the bytes were in the journal.
        package var range: Range<Int>
        /// The path of the file with the bytes; `nil` if it could not be written, and the bytes are still in the journal.
        package var file: String?
        /// The sequence numbers that are missing.
        package var sequences: Range<UInt64>
    }

    /// The bytes that were cut from the end: a transaction that was being written when its process was killed, or frames that a loss of
    /// power left incomplete.
    package var cutBytes = 0
    /// The whole frames among them.
    package var cutFrames = 0
    /// The damaged ranges before the end. Their frames are missing.
    package var quarantined: [Quarantine] = []
    /// The version of the journal's format, if it is newer than this program's: the journal is then read-only and has no frames.
    package var newerVersion: Int?
    /// Whether the journal was copied from another place or device, such as by the restore of a backup: its records may have been
    /// delivered. It stays set until ``Journal/adopt()``.
    package var isRestored = false
    /// How far the last sync brought the frames if it did not reach the medium; `nil` if it did. No marks are written then.
    package var downgrade: SyncStrength?

    package init() {}
}

/// The error of a journal that could not be used.
package enum JournalError: Error, Hashable, Sendable {
    /// The files can't be opened before the device is unlocked. Nothing was changed; try again later.
    case locked
    /// The disk, or the quota, is full. Nothing was appended.
    case full
    /// The frames are in the journal and survive the end of the process, but could not be brought to the medium.
    case notDurable
    /// Another process used the journal for longer than ``JournalOptions/lockTimeout``. Nothing was appended.
    case busy
    /// The format of the journal is newer than this program's. Nothing was changed.
    case newerVersion(Int)
    /// A payload is larger than ``JournalOptions/maximumPayload``. Nothing was appended.
    case tooLarge
    /// The frame with this number is not in the journal, or was removed by a compaction.
    case missing(UInt64)
    /// The bytes of the frame with this number are damaged.
    case damaged(UInt64)
    /// A call of the system failed with this number. Nothing was appended.
    case io(Int32)
}
