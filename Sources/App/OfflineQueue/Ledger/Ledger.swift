/// The state of a queue: what the entries of its journal say, and nothing else.
///
/// Every process that shares the queue derives the same ledger. What the queue decides is decided by it, under the lock of the journal.
struct Ledger: Sendable {
    /// A stored request, as far as it is kept in memory.
    struct Record: Sendable {
        /// The frame with the present content.
        var content: UInt64
        var size: UInt32
        var lane: UInt32
        var createdWall: Int64
        var createdUptime: Int64
        var lifetime: Int64
        var boot: UInt32
        var isBuried = false
        var isCoalescing = false
    }

    /// The attempts to send a request, and which of them have an unknown outcome.
    struct Attempts: Sendable {
        var count = 0
        /// When the first attempt began whose outcome is not known.
        var doubtSince: QueueTime?
        /// The attempt that began last, and what ``doubtSince`` was before.
        var last: QueueTime?
        var doubtBefore: QueueTime?
        /// How often the server failed while it performed the request.
        var failures = 0
        /// The frames that say so.
        var frames: [UInt64] = []
    }

    struct Lane: Sendable {
        let owner: Int
        let name: String
        var line = RecordLine()
        /// The dead letters of the lane.
        var buried = 0
    }

    struct Owner: Sendable {
        let owner: QueueOwner
        /// The stored requests, dead letters included.
        var count = 0
        var bytes = 0
    }

    struct Lease: Hashable, Sendable {
        var holder: UInt64
        var since: QueueTime
        var milliseconds: Int64
    }

    struct CoalescingKey: Hashable, Sendable {
        var lane: Int
        var key: String
    }

    private(set) var records: [QueuedRequestID: Record] = [:]
    private(set) var attempts: [QueuedRequestID: Attempts] = [:]
    private(set) var lanes: [Lane] = []
    private(set) var owners: [Owner] = []
    private(set) var lease: Lease?
    /// The dead letters, by the frame that says why.
    private(set) var buried: [QueuedRequestID: (frame: UInt64, burial: Burial)] = [:]
    private var laneNumbers: [QueueOwner: [String: Int]] = [:]
    private var ownerNumbers: [QueueOwner: Int] = [:]
    private var boots: [UInt64] = []
    private var coalescing: [CoalescingKey: QueuedRequestID] = [:]
    private var coalescingKeys: [QueuedRequestID: CoalescingKey] = [:]
    /// The frames that count, other than the present contents, with their sizes.
    private var marks: [UInt64: UInt32] = [:]
    private var leaseFrame: UInt64?
    /// Frames whose content is newer than the frame that gave the request its identifier.
    private var moved: [UInt64: QueuedRequestID] = [:]
    private(set) var liveBytes = 0
    /// How many requests were delivered since the ledger was created.
    private(set) var delivered = 0
    /// The last frame that was applied.
    private(set) var sequence: UInt64 = 0
    /// Called with each entry that changed something.
    var onChange: (@Sendable (Change) -> Void)?

    /// An entry that changed something, for those who observe the queue.
    enum Change: Sendable {
        case entry(QueueEntry, id: QueuedRequestID, sequence: UInt64)
        /// The ledger was built again: there may be changes that were not reported.
        case restarted
    }

    init(onChange: (@Sendable (Change) -> Void)? = nil) {
        self.onChange = onChange
    }

    /// The number of stored requests that are no dead letters.
    var pendingCount: Int { records.count - buried.count }

    /// Begins anew: the entries that count follow.
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

    /// Applies a frame of the journal.
    mutating func apply(kind: UInt8, payload: [UInt8], sequence: UInt64, storedSize: Int) {
        guard let entry = try? QueueEntry(kind: kind, payload: payload) else {
            // Of a newer version. It stays.
            mark(sequence, storedSize)
            return
        }
        apply(entry, sequence: sequence, storedSize: storedSize)
    }

    mutating func apply(_ entry: QueueEntry, sequence: UInt64, storedSize: Int) {
        let isNew = sequence > self.sequence
        self.sequence = max(self.sequence, sequence)
        var id = QueuedRequestID(rawValue: sequence)
        switch entry {
        case .stored(let header, _):
            insert(id, header, content: sequence, size: storedSize)
        case .replaced(let known, let header, _):
            id = known
            // After a compaction this frame is the only one of the request.
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
                // The attempt did not happen, and needs no frames.
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
        if isNew { onChange?(.entry(entry, id: id, sequence: sequence)) }
    }

    /// Whether a compaction keeps a frame.
    func keeps(kind: UInt8, sequence: UInt64) -> Bool {
        if marks[sequence] != nil { return true }
        if moved[sequence] != nil { return true }
        return records[QueuedRequestID(rawValue: sequence)]?.content == sequence
    }

    // MARK: Reading

    func created(_ record: Record) -> QueueTime {
        QueueTime(wall: record.createdWall, boot: boots[Int(record.boot)], uptime: record.createdUptime)
    }

    func owner(of record: Record) -> QueueOwner { owners[lanes[Int(record.lane)].owner].owner }

    func usage(of owner: QueueOwner) -> Owner? { ownerNumbers[owner].map { owners[$0] } }

    func lane(_ name: String, of owner: QueueOwner) -> Int? { laneNumbers[owner]?[name] }

    func coalescingKey(of id: QueuedRequestID) -> String? { coalescingKeys[id]?.key }

    func coalesced(_ key: String, lane: Int) -> QueuedRequestID? { coalescing[CoalescingKey(lane: lane, key: key)] }

    // MARK: Changing

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
            coalescing[key] = id
            coalescingKeys[id] = key
        }
    }

    /// Removes a request and the frames that only it needs.
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

    private mutating func forgetCoalescing(_ id: QueuedRequestID) {
        guard let key = coalescingKeys[id], coalescing[key] == id else { return }
        coalescing[key] = nil
    }

    private mutating func mark(_ frame: UInt64, _ size: Int) {
        marks[frame] = UInt32(clamping: size)
        liveBytes += size
    }

    private mutating func unmark(_ frame: UInt64) {
        if let size = marks.removeValue(forKey: frame) { liveBytes -= Int(size) }
    }

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

    private mutating func number(ofBoot boot: UInt64) -> UInt32 {
        // Boots are few, and the last one is asked for most of the time.
        if let index = boots.lastIndex(of: boot) { return UInt32(index) }
        boots.append(boot)
        return UInt32(boots.count - 1)
    }
}

extension Ledger.Attempts {
    fileprivate mutating func begin(at time: QueueTime, frame: UInt64) {
        count += 1
        last = time
        doubtBefore = doubtSince
        doubtSince = doubtSince ?? time
        frames.append(frame)
    }

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
