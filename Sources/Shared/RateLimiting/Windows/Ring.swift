/// The state of a sliding window: a ring buffer that contains the instant of each recently admitted unit.
///
/// The memory of the ring grows with use. An unused key needs no memory. Other keys need at most 8 bytes per unit of the quota, plus 16
/// bytes.
///
/// Only this file writes the header, so the values in the header are always within bounds. The type is `@unchecked Sendable`, because a
/// value can't be copied, so it has its memory alone.
struct Ring: ~Copyable, @unchecked Sendable {
    private struct Header {
        /// The index of the oldest instant. Later instants follow at the next indexes, and after the last index from index 0.
        var oldest: Int32 = 0
        /// The number of stored instants.
        var kept: Int32 = 0
        /// The number of instants for which there is memory.
        var capacity: Int32
    }

    /// The memory of the ring; `nil` for a ring that never stored an instant.
    private var header: UnsafeMutablePointer<Header>?

    init() {}

    /// Creates a ring with the given instants, oldest first.
    private init(_ instants: [Int64]) {
        guard !instants.isEmpty else { return }
        header = Self.memory(capacity: instants.count)
        for instant in instants { append(instant, quota: instants.count) }
    }

    deinit { header?.deallocate() }

    /// The number of stored instants.
    @inline(__always)
    private var kept: Int { header.map { Int($0.pointee.kept) } ?? 0 }
    /// The latest stored instant; `nil` if there is none.
    @inline(__always)
    private var newest: Int64? { kept == 0 ? nil : instant(kept - 1) }

    /// Allocates a ring with room for a number of instants. The caller must free it.
    private static func memory(capacity: Int) -> UnsafeMutablePointer<Header> {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 16 + 8 * capacity, alignment: 8)
        let header = memory.bindMemory(to: Header.self, capacity: 1)
        header.initialize(to: Header(capacity: Int32(capacity)))
        (memory + 16).initializeMemory(as: Int64.self, repeating: 0, count: capacity)
        return header
    }

    /// Returns the address of the first instant, which is 16 bytes after the header.
    @inline(__always)
    private static func instants(_ header: UnsafeMutablePointer<Header>) -> UnsafeMutablePointer<Int64> {
        (UnsafeMutableRawPointer(header) + 16).assumingMemoryBound(to: Int64.self)
    }

    /// Returns a stored instant.
    ///
    /// - Parameter age: The position of the instant, below the number of stored instants. The oldest instant has the position 0.
    @inline(__always)
    private func instant(_ age: Int) -> Int64 {
        guard let header, age < header.pointee.kept else { return .min }
        let (index, capacity) = (Int(header.pointee.oldest) + age, Int(header.pointee.capacity))
        return Self.instants(header)[index < capacity ? index : index - capacity]
    }

    /// Returns the number of stored instants that are less than a window old. The instants are sorted, so this is a binary search.
    private func live(at now: Int64, terms: RateLimitTerms) -> Int {
        let now = max(now, newest ?? now)
        if kept == 0 || now - instant(0) < terms.window { return kept }
        var (low, high) = (0, kept)
        while low < high {
            let middle = (low + high) / 2
            if now - instant(middle) >= terms.window { low = middle + 1 } else { high = middle }
        }
        return kept - low
    }

    /// Removes the instants that are at least a window old. Only admissions call this method. No later request is counted at an earlier
    /// instant than `now`, so the removed instants can't count again.
    @inline(__always)
    private func dropExpired(at now: Int64, window: Int64) {
        guard let header, let newest else { return }
        if now - newest >= window { (header.pointee.oldest, header.pointee.kept) = (0, 0) }
        let instants = Self.instants(header)
        while header.pointee.kept > 0, now - instants[Int(header.pointee.oldest)] >= window {
            header.pointee.oldest += 1
            if header.pointee.oldest == header.pointee.capacity { header.pointee.oldest = 0 }
            header.pointee.kept -= 1
        }
    }

    /// Adds an instant that is not before the newest instant. A full ring grows first.
    @inline(__always)
    private mutating func append(_ instant: Int64, quota: Int) {
        if header.map({ $0.pointee.kept == $0.pointee.capacity }) ?? true { grow(quota: quota) }
        guard let header else { return }
        let (index, capacity) = (Int(header.pointee.oldest) + Int(header.pointee.kept), Int(header.pointee.capacity))
        Self.instants(header)[index < capacity ? index : index - capacity] = instant
        header.pointee.kept += 1
    }

    /// Allocates more memory. If the ring stores at least half as many instants as the quota has units, the new memory is sufficient for
    /// the whole quota. A key near its limit then doesn't allocate memory again.
    @inline(never)
    private mutating func grow(quota: Int) {
        let half = max(1, quota / 2)
        let larger = Self.memory(capacity: max(kept < half ? min(max(2, 2 * kept), half) : quota, kept + 1))
        for age in 0..<kept { Self.instants(larger)[age] = instant(age) }
        larger.pointee.kept = Int32(kept)
        header?.deallocate()
        header = larger
    }
}

extension Ring: AdmissionWindow {
    static var knowsInstants: Bool { true }

    func copy() -> Ring { Ring((0..<kept).map { instant($0) }) }

    @inline(__always)
    func delay(at now: Int64, terms: RateLimitTerms, cost: Int) -> Int64 {
        let missing = cost - (terms.quota - kept)
        guard missing > 0 else { return 0 }
        // The last missing unit becomes available when the instant with the position `missing - 1` is a window old. If `now` is before the
        // newest instant, the request counts as made at the newest instant.
        return max(0, instant(missing - 1) + terms.window - max(now, instant(kept - 1)))
    }

    @inline(__always)
    @discardableResult
    mutating func charge(at now: Int64, terms: RateLimitTerms, cost: Int) -> Int {
        let now = max(now, newest ?? now)
        dropExpired(at: now, window: terms.window)
        for _ in 0..<cost { append(now, quota: terms.quota) }
        return terms.quota - kept
    }

    /// The newest stored instant, at which the last charge was counted. A refund removes units with this instant. It can remove any of
    /// them, because units with the same instant are equal.
    var chargeMark: Int64 { newest ?? .min }

    mutating func refund(_ charge: WindowCharge, at now: Int64, terms: RateLimitTerms) {
        guard charge.terms.emission == 0 else { return }
        let instants = (0..<kept).map { instant($0) }
        let count = min(charge.units, instants.count { $0 == charge.mark })
        guard count > 0, let first = instants.firstIndex(of: charge.mark) else { return }
        self = Ring(Array(instants[..<first] + instants[(first + count)...]))
    }

    @inline(__always)
    var heapBytes: Int { header.map { Self.heapBytes(capacity: Int($0.pointee.capacity)) } ?? 0 }

    static func firstHeapBytes(terms: RateLimitTerms) -> Int { heapBytes(capacity: min(2, max(1, terms.quota / 2))) }

    /// Returns the number of bytes of a buffer on the heap: the header, the instants, and the overhead of the allocator.
    private static func heapBytes(capacity: Int) -> Int { 32 + 8 * capacity }

    func usage(at now: Int64, terms: RateLimitTerms) -> Double {
        Double(live(at: now, terms: terms)) / Double(terms.quota)
    }

    func remaining(at now: Int64, terms: RateLimitTerms) -> Int { max(0, terms.quota - live(at: now, terms: terms)) }

    func delayOfMore(at now: Int64, terms: RateLimitTerms) -> Int64 {
        let live = live(at: now, terms: terms)
        guard live > 0 else { return 0 }
        // After the quota was lowered, the ring may store more instants than the quota.
        let next = kept - live + max(0, live - terms.quota)
        return instant(next) + terms.window - max(now, instant(kept - 1))
    }

    func owed(at now: Int64, terms: RateLimitTerms) -> Int64 { newest.map { max(0, $0 + terms.window - now) } ?? 0 }

    @inline(__always)
    func isFresh(at now: Int64, terms: RateLimitTerms) -> Bool { newest.map { now - $0 >= terms.window } ?? true }

    func savedUsage(at now: Int64, terms: RateLimitTerms) -> SavedUsage {
        .ages(((kept - live(at: now, terms: terms))..<kept).map { max(0, now - instant($0)) })
    }

    mutating func add(_ usage: SavedUsage, elapsed: Int64, at now: Int64, terms: RateLimitTerms) -> Bool {
        guard case .ages(let ages) = usage else { return false }
        // Negative ages count as zero. No restored instant is therefore in the future, and no addition overflows.
        let restored = ages.compactMap { age in
            let (age, overflow) = max(0, age).addingReportingOverflow(elapsed)
            return overflow || age >= terms.window ? nil : now - age
        }
        let known = ((kept - live(at: now, terms: terms))..<kept).map { instant($0) }
        // Keep only the newest units. Otherwise, each restore of the same snapshot would take more memory.
        let most = max(terms.quota, known.count, restored.count)
        self = Ring(Array((known + restored).sorted().suffix(most)))
        return true
    }

    mutating func spendAll(at instant: Int64, terms: RateLimitTerms) {
        let later = (0..<kept).map { self.instant($0) }.filter { $0 > instant }
        let spent = repeatElement(instant, count: max(0, terms.quota - later.count))
        self = Ring(Array(spent) + later)
    }
}
