/// The state of a queue. The state is derived only from the entries of the journal.
///
/// All processes that share the queue apply the same entries in the same order, so they derive the same ledger. A frame is the record of an
/// entry in the file. The queue makes its decisions with the ledger, under the lock of the journal. The ledger has no clock and does no
/// I/O.
///
/// Invariants:
/// - `records` has exactly the requests that are neither delivered nor removed. `buried` has the dead letters among these requests. All
///   other records are in the `line` of their lane.
/// - `liveBytes` is the sum of the sizes of all frames that a compaction keeps; see ``keeps(_:)``. A compaction keeps one frame
///   with the content of each record, and the frames in `marks`.
/// - Lanes and owners are never removed, so that their numbers stay valid for the dispatcher.
///
/// The contents of requests stay on disk.
struct Ledger: JournalState {
    /// The part of a stored request that is in memory. A queue may have thousands of records. To save memory, small integers represent the
    /// lane and the boot.
    struct Record: Sendable {
        /// The sequence number of the frame with the present content.
        var content: UInt64
        /// The size of the frame ``content`` in the file, in bytes.
        var size: UInt32
        /// The index of the lane in ``Ledger/lanes``.
        var lane: UInt32
        var createdWall: Int64
        var createdUptime: Int64
        /// The time in milliseconds within which the request may be sent, measured from its creation.
        var lifetime: Int64
        /// The boot of the device in which the request was created, as an index in the list of boots.
        var boot: UInt32
        var isBuried = false
        var isCoalescing = false
    }

    /// The attempts to send a request. The attempts show whether the server may have performed the request.
    ///
    /// From the beginning of an attempt, its outcome is unknown. The outcome stays unknown until a settlement states that the server did
    /// not perform the request. If the process crashes in between, the queue therefore never assumes a wrong outcome.
    struct Attempts: Sendable {
        /// The number of attempts that began. An attempt doesn't count if none of its bytes left the device.
        var count = 0
        /// The beginning of the first attempt with an unknown outcome; `nil` if the server surely didn't perform the request.
        var doubtSince: QueueTime?
        /// The beginning of the last attempt.
        var last: QueueTime?
        /// The value of ``doubtSince`` before the last attempt. The value is restored if the server did not perform that attempt.
        var doubtBefore: QueueTime?
        /// The number of attempts in which the server failed while it performed the request.
        var failures = 0
        /// The frames with the entries of the attempts. A compaction keeps these frames as long as the request is stored.
        var frames: [UInt64] = []
    }

    /// The requests of one lane of one owner.
    struct Lane: Sendable {
        let owner: Int
        let name: String
        var line = RecordLine()
        /// The number of dead letters of the lane.
        var buried = 0
    }

    /// The number and the bytes of one owner's requests, which the queue compares with ``QueueLimits``.
    struct Owner: Sendable {
        let owner: QueueOwner
        /// The number of stored requests, including dead letters.
        var count = 0
        /// The bytes of the frames with the contents of the stored requests.
        var bytes = 0
    }

    /// The lease that makes a process the sender. The process `holder` has this role for `milliseconds`, beginning at `since`. Only the
    /// sender may begin attempts.
    struct Lease: Hashable, Sendable {
        var holder: UInt64
        var since: QueueTime
        var milliseconds: Int64
    }

    /// A coalescing key and the index of its lane. The same key in another lane is independent.
    struct CoalescingKey: Hashable, Sendable {
        var lane: Int
        var key: String
    }

    /// The stored requests, including dead letters, by their identifiers.
    private(set) var records: [QueuedRequestID: Record] = [:]
    /// The attempts of all requests for which at least one attempt began.
    private(set) var attempts: [QueuedRequestID: Attempts] = [:]
    /// The lanes in the order of their first request. The index of a lane never changes.
    private(set) var lanes: [Lane] = []
    private(set) var owners: [Owner] = []
    /// The last lease, which may have ended; `nil` before the first lease.
    private(set) var lease: Lease?
    /// The dead letters, with the frames that describe them.
    private(set) var buried: [QueuedRequestID: (frame: UInt64, burial: Burial)] = [:]
    private var laneNumbers: [QueueOwner: [String: Int]] = [:]
    private var ownerNumbers: [QueueOwner: Int] = [:]
    /// The boots of the device in which the records were created. ``Record/boot`` is an index of this list.
    private var boots: [UInt64] = []
    /// The pending request that has each coalescing key; the last one if there are several. A new request with the same key replaces it.
    private var coalescing: [CoalescingKey: QueuedRequestID] = [:]
    private var coalescingKeys: [QueuedRequestID: CoalescingKey] = [:]
    /// The sizes of the frames that a compaction keeps, without the frames with present contents. These are the frames of attempts, of dead
    /// letters, of the last lease, and of unknown kinds.
    private var marks: [UInt64: UInt32] = [:]
    private var leaseFrame: UInt64?
    /// The requests whose present content is not in their first frame, by the number of the frame with the present content. The identifier
    /// of a request is the number of its first frame.
    private var moved: [UInt64: QueuedRequestID] = [:]
    /// The bytes of the frames that a compaction would keep.
    private(set) var liveBytes = 0
    /// The number of deliveries, including the deliveries that were found when the journal was opened. Each delivery counts once.
    private(set) var delivered = 0
    /// The largest sequence number that was applied. An entry with this number or a smaller number was applied before. The journal applies
    /// such an entry again only after ``restart()``.
    private(set) var sequence: UInt64 = 0
    /// A closure that the ledger calls with each entry that changed it.
    var onChange: (@Sendable (Change) -> Void)?

    /// A change of the ledger, for the observers of the queue.
    enum Change: Sendable {
        case entry(QueueEntry, id: QueuedRequestID)
        /// The ledger was derived again from a compacted journal, so some changes might not have been reported.
        case restarted
    }

    init(onChange: (@Sendable (Change) -> Void)? = nil) {
        self.onChange = onChange
    }

    /// The number of stored requests without the dead letters.
    var pendingCount: Int { records.count - buried.count }

    /// Removes all requests. Afterwards, the journal applies the entries that a compaction kept.
    ///
    /// Lanes and owners keep their numbers. Entries that were applied before are not reported to observers again.
    mutating func restart() {
        var new = Ledger(onChange: onChange)
        (new.sequence, new.delivered) = (sequence, delivered)
        // Lanes and owners keep their numbers.
        new.lanes = lanes.map { Lane(owner: $0.owner, name: $0.name) }
        new.owners = owners.map { Owner(owner: $0.owner) }
        (new.laneNumbers, new.ownerNumbers) = (laneNumbers, ownerNumbers)
        let known = sequence
        self = new
        if known > 0 { onChange?(.restarted) }
    }

    /// Applies a frame of the journal. A frame with an unknown kind or an unknown payload comes from a newer version of the app. A
    /// compaction keeps such a frame, and the ledger otherwise ignores it.
    mutating func apply(_ frame: JournalFrame) {
        let header = frame.header
        guard let entry = try? QueueEntry(kind: header.kind, payload: frame.payload) else {
            mark(header.sequence, header.storedSize)
            return
        }
        apply(entry, sequence: header.sequence, storedSize: header.storedSize)
    }

    /// Applies an entry. If the request of the entry is no longer stored, the entry has no effect, except `replaced` and `revived`.
    ///
    /// After a compaction, only the last frame with the content of a request is left. Therefore, these two entries also create a request.
    /// - Parameters:
    ///   - sequence: The sequence number of the entry's frame. For `stored`, this number becomes the identifier of the request.
    ///   - storedSize: The size of the frame in the file, in bytes.
    mutating func apply(_ entry: QueueEntry, sequence: UInt64, storedSize: Int) {
        let isNew = sequence > self.sequence
        self.sequence = max(self.sequence, sequence)
        var id = QueuedRequestID(rawValue: sequence)
        switch entry {
        case .stored(let header, _):
            insert(id, header, content: sequence, size: storedSize)
        case .replaced(let known, let header, _):
            id = known
            // After a compaction, the earlier frame of the request no longer exists.
            if records[id] != nil { drop(id) }
            insert(id, header, content: sequence, size: storedSize)
        case .revived(let known, let header, _):
            id = known
            if records[id] != nil { drop(id) }
            insert(id, header, content: sequence, size: storedSize)
        case .attempted(let known, let time):
            id = known
            guard records[id] != nil else { return }
            mark(sequence, storedSize)
            attempts[id, default: Attempts()].begin(at: time, frame: sequence)
        case .settled(let known, let settlement):
            id = known
            guard records[id] != nil, attempts[id] != nil else { return }
            mark(sequence, storedSize)
            attempts[id]?.settle(settlement, frame: sequence)
            if let ended = attempts[id], ended.count == 0 {
                // No byte of the attempt was sent, so its frames are not needed.
                for frame in ended.frames { unmark(frame) }
                attempts[id] = nil
            }
        case .delivered(let known):
            id = known
            guard records[id] != nil else { return }
            drop(id)
            if isNew { delivered += 1 }
        case .removed(let known):
            id = known
            guard records[id] != nil else { return }
            drop(id)
        case .buried(let known, let burial):
            id = known
            guard let record = records[id], !record.isBuried else { return }
            let lane = Int(record.lane)
            lanes[lane].line.remove(id)
            lanes[lane].buried += 1
            forgetCoalescing(id)
            records[id]?.isBuried = true
            buried[id] = (sequence, burial)
            mark(sequence, storedSize)
        case .discarded(let owner):
            guard let number = ownerNumbers[owner] else { return }
            for (id, record) in records where lanes[Int(record.lane)].owner == number { drop(id) }
        case .leased(let holder, let time, let milliseconds):
            if let leaseFrame { unmark(leaseFrame) }
            leaseFrame = sequence
            mark(sequence, storedSize)
            lease = Lease(holder: holder, since: time, milliseconds: milliseconds)
        }
        if isNew { onChange?(.entry(entry, id: id)) }
    }

    /// Returns whether a compaction keeps a frame. It keeps the present content of a request, the frames that describe the state of a
    /// request, and frames of unknown kinds. O(1).
    func keeps(_ frame: JournalFrameHeader) -> Bool {
        let sequence = frame.sequence
        return marks[sequence] != nil || moved[sequence] != nil
            || records[QueuedRequestID(rawValue: sequence)]?.content == sequence
    }

    // MARK: Reading

    /// Returns the time at which a request was stored or put back.
    func created(_ record: Record) -> QueueTime {
        QueueTime(wall: record.createdWall, boot: boots[Int(record.boot)], uptime: record.createdUptime)
    }

    /// Returns the owner of a request.
    func owner(of record: Record) -> QueueOwner { owners[lanes[Int(record.lane)].owner].owner }

    /// Returns the number and the bytes of an owner's requests; `nil` if the owner never had a request.
    func usage(of owner: QueueOwner) -> Owner? { ownerNumbers[owner].map { owners[$0] } }

    /// Returns the index of a lane; `nil` if the lane never had a request.
    func lane(_ name: String, of owner: QueueOwner) -> Int? { laneNumbers[owner]?[name] }

    /// Returns the coalescing key of a request.
    func coalescingKey(of id: QueuedRequestID) -> String? { coalescingKeys[id]?.key }

    /// Returns the pending request with a coalescing key.
    func coalesced(_ key: String, lane: Int) -> QueuedRequestID? { coalescing[CoalescingKey(lane: lane, key: key)] }

    // MARK: Changing

    /// Adds a request to its lane, in the order of the identifiers, and to the counts of its owner.
    private mutating func insert(_ id: QueuedRequestID, _ header: RequestHeader, content: UInt64, size: Int) {
        let lane = number(ofLane: header.lane, of: header.owner)
        records[id] = Record(
            content: content,
            size: UInt32(clamping: size),
            lane: UInt32(lane),
            createdWall: header.created.wall,
            createdUptime: header.created.uptime,
            lifetime: header.lifetime,
            boot: number(ofBoot: header.created.boot),
            isCoalescing: header.coalescingKey != nil
        )
        lanes[lane].line.insert(id)
        owners[lanes[lane].owner].count += 1
        owners[lanes[lane].owner].bytes += size
        liveBytes += size
        if content != id.rawValue { moved[content] = id }
        if let key = header.coalescingKey.map({ CoalescingKey(lane: lane, key: $0) }) {
            // A dead letter that was put back, or an edited request, may be older than another request with the key. A new request must
            // replace the last one. Otherwise, the older content would be sent after the new content.
            if coalescing[key].map({ $0 < id }) ?? true { coalescing[key] = id }
            coalescingKeys[id] = key
        }
    }

    /// Removes a request. A compaction then no longer keeps the frames of its attempts and of its dead letter.
    private mutating func drop(_ id: QueuedRequestID) {
        guard let record = records.removeValue(forKey: id) else { return }
        let lane = Int(record.lane)
        lanes[lane].line.remove(id)
        owners[lanes[lane].owner].count -= 1
        owners[lanes[lane].owner].bytes -= Int(record.size)
        liveBytes -= Int(record.size)
        moved[record.content] = nil
        if record.isCoalescing {
            forgetCoalescing(id)
            coalescingKeys[id] = nil
        }
        for frame in attempts.removeValue(forKey: id)?.frames ?? [] { unmark(frame) }
        if let letter = buried.removeValue(forKey: id) {
            lanes[lane].buried -= 1
            unmark(letter.frame)
        }
    }

    /// Removes the coalescing key of a request, so that a new request doesn't replace the request. If a later request has the same key,
    /// that request keeps the key.
    private mutating func forgetCoalescing(_ id: QueuedRequestID) {
        guard let key = coalescingKeys[id], coalescing[key] == id else { return }
        coalescing[key] = nil
    }

    /// Records that a compaction keeps a frame.
    private mutating func mark(_ frame: UInt64, _ size: Int) {
        marks[frame] = UInt32(clamping: size)
        liveBytes += size
    }

    /// Records that a compaction need not keep a frame any longer.
    private mutating func unmark(_ frame: UInt64) {
        if let size = marks.removeValue(forKey: frame) { liveBytes -= Int(size) }
    }

    /// Returns the index of a lane. If the lane or its owner is new, the method adds it.
    private mutating func number(ofLane name: String, of owner: QueueOwner) -> Int {
        if let number = laneNumbers[owner]?[name] { return number }
        let ownerNumber = ownerNumbers[owner] ?? owners.count
        if ownerNumber == owners.count {
            owners.append(Owner(owner: owner))
            ownerNumbers[owner] = ownerNumber
        }
        lanes.append(Lane(owner: ownerNumber, name: name))
        laneNumbers[owner, default: [:]][name] = lanes.count - 1
        return lanes.count - 1
    }

    /// Returns the index of a boot in ``boots``, and adds a new boot. Each record stores this small index instead of the boot.
    private mutating func number(ofBoot boot: UInt64) -> UInt32 {
        // There are few boots, and most requests belong to the last boot.
        if let index = boots.lastIndex(of: boot) { return UInt32(index) }
        boots.append(boot)
        return UInt32(boots.count - 1)
    }
}

extension Ledger.Attempts {
    /// Records that an attempt began. The outcome of the attempt is unknown until it is settled.
    fileprivate mutating func begin(at time: QueueTime, frame: UInt64) {
        count += 1
        last = time
        doubtBefore = doubtSince
        doubtSince = doubtSince ?? time
        frames.append(frame)
    }

    /// Records what is known about the last attempt.
    fileprivate mutating func settle(_ settlement: QueueEntry.Settlement, frame: UInt64) {
        frames.append(frame)
        switch settlement {
        case .neverSent:
            count = max(0, count - 1)
            doubtSince = doubtBefore
        case .notPerformed: doubtSince = doubtBefore
        case .failed: failures += 1
        }
    }
}

extension JournalTransaction {
    /// Appends an entry.
    mutating func append(_ entry: QueueEntry) {
        let (kind, payload) = entry.frame
        append(kind: kind, payload: payload)
    }
}
