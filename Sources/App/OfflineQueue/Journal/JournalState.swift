package import PrivateFiles
package import Timekeeping

/// A frame of a journal: bytes that the journal stores without interpreting them.
package struct JournalFrame: Hashable, Sendable {
    /// The kind, the number and the size of the frame.
    package var header: JournalFrameHeader
    /// The bytes that the user of the journal stored.
    package var payload: [UInt8]

    /// Creates a frame.
    /// - Parameters:
    ///   - header: The kind, the number and the size of the frame.
    ///   - payload: The bytes of the frame without its header.
    package init(header: JournalFrameHeader, payload: [UInt8]) {
        (self.header, self.payload) = (header, payload)
    }
}

/// The description of a frame without its payload.
package struct JournalFrameHeader: Hashable, Sendable {
    /// The meaning of the payload, from 1 to 255, which the user of the journal defines. 0 is reserved for the journal.
    package var kind: UInt8
    /// The number of the frame. Numbers grow from frame to frame, and may have gaps. A compaction doesn't change the numbers.
    /// ``Journal/payload(of:)`` reads a frame by its number. A number is used again only if a loss of power removed its frame.
    package var sequence: UInt64
    /// The number of bytes of the frame in the file.
    package var storedSize: Int

    /// Creates the description of a frame.
    /// - Parameters:
    ///   - kind: The meaning of the payload, from 1 to 255; 0 for a frame of the journal itself.
    ///   - sequence: The number of the frame.
    ///   - storedSize: The number of bytes of the frame in the file, including its header.
    package init(kind: UInt8, sequence: UInt64, storedSize: Int) {
        (self.kind, self.sequence, self.storedSize) = (kind, sequence, storedSize)
    }
}

/// A value that is derived only from the frames of a journal.
///
/// Between two calls of ``restart()``, the journal applies each frame exactly once, in the order of the sequence numbers. This rule applies
/// to frames that the journal finds when it is opened, and to frames that this process or another process appends. A frame of this process
/// is applied after its transaction has succeeded.
///
/// The state must be a value type: a compaction uses a copy while the original changes.
package protocol JournalState: Sendable {
    /// Removes everything that was derived from frames. The journal then applies all of its frames, including frames that it applied
    /// before.
    ///
    /// The journal calls this method when it is opened, and when another process has compacted it. Frames that the compaction removed are
    /// not applied again.
    mutating func restart()

    /// Applies a frame.
    mutating func apply(_ frame: JournalFrame)

    /// Returns whether a compaction keeps an applied frame. Frames of unknown kinds must be kept.
    func keeps(_ frame: JournalFrameHeader) -> Bool

    /// The sum of ``JournalFrameHeader/storedSize`` of the frames that a compaction would keep. O(1).
    var liveBytes: Int { get }
}

/// The frames that a transaction appends.
package struct JournalTransaction {
    /// The sequence number of the next frame.
    package private(set) var nextSequence: UInt64
    /// Whether the frames may use the space that is reserved for a full disk. Set the property for small frames, such as the record of a
    /// delivery.
    package var usesReserve = false
    private(set) var frames: [JournalFrame] = []
    private(set) var size = 0

    init(nextSequence: UInt64) { self.nextSequence = nextSequence }

    /// Appends a frame and returns its sequence number.
    /// - Parameters:
    ///   - kind: The meaning of the payload, from 1 to 255.
    ///   - payload: The bytes of the frame, at most ``JournalOptions/maximumPayload``. With a larger payload, the transaction fails.
    /// - Returns: The sequence number that the frame gets if the transaction succeeds.
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

/// The failures that the frames of a transaction survive, from the return of ``Journal/transact(durability:_:)`` on.
package enum JournalDurability: Sendable {
    /// Any end of the process. The frames also survive a loss of power after ``JournalOptions/syncDelay``.
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
    /// The maximum wait for the lock of another process. After this time, a call throws ``JournalError/busy``.
    package var lockTimeout: Duration = .seconds(10)
    /// The clock that limits the wait for the lock of another process.
    package var clock = MonotonicClock.continuous
    /// The space in bytes that ordinary frames leave free. On a full disk, small frames use this space
    /// (``JournalTransaction/usesReserve``).
    package var reserve = 64 * 1024
    /// The number of bytes by which the file grows when the frames need space, in addition to the reserve.
    package var growth = 128 * 1024
    /// The journal compacts automatically if the unneeded frames have more bytes than this number, and more bytes than the needed frames.
    package var compactionThreshold = 1024 * 1024
    /// The identifier of the device, such as a value in the Keychain that is not restored on another device. By default, the journal uses
    /// the identity of the folder. A restored backup or a copy has another identity.
    package var deviceID: String?
    /// Whether the journal syncs and compacts automatically. With `false`, the journal only syncs and compacts when ``Journal/sync()`` and
    /// ``Journal/compact()`` are called, for example by a test.
    package var isMaintained = true

    /// Creates the default settings.
    package init() {}
}

/// The results of the recovery when the journal was opened, and of later repairs.
package struct RecoveryReport: Hashable, Sendable {
    /// A range of damaged bytes that was copied to a separate file.
    package struct Quarantine: Hashable, Sendable {
        /// The range of the bytes in the journal.
        package var range: Range<Int>
        /// The path of the file with the bytes; `nil` if the file could not be written. The bytes are then still in the journal.
        package var file: String?
        /// The sequence numbers that are missing.
        package var sequences: Range<UInt64>
    }

    /// The number of bytes that the recovery removed from the end. The bytes belong to a transaction whose process was killed, or to frames
    /// that a loss of power left incomplete.
    package var cutBytes = 0
    /// The number of complete frames among the removed bytes.
    package var cutFrames = 0
    /// The damaged ranges before the end. The frames in these ranges are missing.
    package var quarantined: [Quarantine] = []
    /// The version of the journal's format if it is newer than the version of this program; otherwise `nil`. A journal with a newer format
    /// is read-only, and its frames are not read.
    package var newerVersion: Int?
    /// Whether the journal was copied from another folder or device, such as by the restore of a backup. The records of a copy may already
    /// have been delivered. The value stays `true` until ``Journal/adopt()`` is called.
    package var isRestored = false
    /// The guarantee of the last sync if this guarantee doesn't ensure that the frames reached the medium; otherwise `nil`. While the value
    /// is not `nil`, the journal writes no marks.
    package var downgrade: SyncStrength?

    /// Creates a report without findings.
    package init() {}
}

/// The error of a journal that could not be used.
package enum JournalError: Error, Hashable, Sendable {
    /// The files can't be opened before the device is unlocked. Nothing was changed; try again later.
    case locked
    /// The disk, or the quota, is full. Nothing was appended.
    case full
    /// The frames are in the journal and survive the end of the process, but they could not be synced to the medium.
    case notDurable
    /// Another process used the journal for longer than ``JournalOptions/lockTimeout``. Nothing was appended.
    case busy
    /// The format of the journal is newer than the format of this program. Nothing was changed.
    case newerVersion(Int)
    /// A payload is larger than ``JournalOptions/maximumPayload``. Nothing was appended.
    case tooLarge
    /// The frame with this number was never in the journal, or a compaction removed it.
    case missing(UInt64)
    /// The bytes of the frame with this number are damaged.
    case damaged(UInt64)
    /// A system call failed with this error number. Nothing was appended.
    case io(Int32)
}
