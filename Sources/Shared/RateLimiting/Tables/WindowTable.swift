/// The keys of one shard and their states: a hash table with open addressing, sorted by digest.
///
/// The preferred slot of a digest is proportional to the digest. If this slot is taken, the digest gets a later slot, after smaller digests
/// and before larger digests. The table is therefore sorted, with free slots in between. A search ends at the first larger digest or free
/// slot, and growing the table takes one pass. At most 13 of 16 slots are taken. A slot has 16 bytes, and 8 of them are for the state. No
/// operation scans the whole table to find expired keys. Instead, each insertion checks whether two other keys have expired.
///
/// A full table chooses a few keys at random and evicts the key with the least usage. The table never evicts a key that has used more than
/// half of its quota. If no key can be evicted, new keys share 16 windows of the table (buckets), and the digest of a key determines its
/// bucket. See ``bucket(of:)``.
struct WindowTable<Window: AdmissionWindow & ~Copyable>: ~Copyable {
    /// A key with its state, or a free slot.
    struct Slot: ~Copyable {
        /// The digest, or 0 for a free slot. If the lowest bit is 1, the key has changed, and the caller has not saved the change yet.
        var word: UInt64 = 0
        /// The state; unused if the slot is free.
        var window = Window()
    }

    // The values that every decision reads are adjacent.
    /// The slots, sorted by digest.
    private(set) var slots: UnsafeMutablePointer<Slot>
    /// The number of preferred slots. The other slots follow after them, for digests whose preferred slot is taken.
    private var places = 0
    /// The numbers of the policy, such as its quota and its window.
    let terms: RateLimitTerms
    /// Whether the table marks changed keys, so that a caller can save them.
    let recordsChanges: Bool
    /// The mode of the rule, such as ``RateLimitRule/Mode/enforce``.
    let mode: RateLimitRule.Mode
    /// The number of keys, including buckets.
    private(set) var count = 0
    /// The number of keys that are buckets.
    private(set) var bucketCount = 0
    /// The memory of the keys.
    var memory: TableMemory
    /// The number of evicted keys, and the number of requests of new keys that were not counted in their own window because the table was
    /// full.
    var (evictions, fallbacks) = (0, 0)
    /// The maximum number of keys with their own window.
    let capacity: Int
    /// The number of slots. The last slot is always free.
    private(set) var slotCount = 1
    /// The slot at which the next call of ``dropExpired(_:at:)`` begins.
    private var expiryCursor = 0
    /// The rule that the table applies.
    let rule: RateLimitRule
    /// One bit for each group of 64 slots. The bit is 1 if the group contains changed keys.
    var changedGroups: [UInt64] = []
    /// The group of 64 slots at which the next call of ``takeChanges(upTo:at:)`` begins.
    var changeCursor = 0
    /// The keys that were reset. The caller must delete the saved rows of these keys.
    var resets: [KeyDigest] = []
    /// Whether the usage with which new keys start has changed since the caller last saved it.
    var everyoneHasChanged = false

    /// Creates an empty table with one slot.
    ///
    /// - Parameters:
    ///   - rule: The rule that the table applies.
    ///   - capacity: The maximum number of keys with their own window.
    ///   - memory: The memory of the keys.
    ///   - recordsChanges: Whether the table marks changed keys, so that they can be saved.
    init(rule: RateLimitRule, capacity: Int, memory: TableMemory = .unbounded, recordsChanges: Bool) {
        self.rule = rule
        self.memory = memory
        self.capacity = capacity
        self.recordsChanges = recordsChanges
        terms = rule.policy.terms
        mode = rule.mode
        slots = Self.memory(1)
    }

    deinit {
        Self.free(slots, slotCount)
        memory.release()
    }

    /// The number of keys with their own window.
    var keyCount: Int { count - bucketCount }

    /// Returns the word of the bucket for a new key: the shared window in which a full table counts the key. The first four bits of the
    /// digest choose one of 16 buckets. No key has the same word as a bucket.
    static func bucket(of digest: UInt64) -> UInt64 { bucket(Int(truncatingIfNeeded: digest >> 60)) }

    /// Returns the word of a bucket.
    /// - Parameter number: From 0 to 15.
    static func bucket(_ number: Int) -> UInt64 { UInt64(number + 1) * 2 }

    /// Returns whether a word belongs to a key. Other words belong to a bucket or to a free slot.
    static func isKey(_ word: UInt64) -> Bool { word >= KeyDigest.firstOfKeys }

    private static func memory(_ count: Int) -> UnsafeMutablePointer<Slot> {
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: count)
        for index in 0..<count { (slots + index).initialize(to: Slot()) }
        return slots
    }

    private static func free(_ slots: UnsafeMutablePointer<Slot>, _ count: Int) {
        slots.deinitialize(count: count)
        slots.deallocate()
    }

    /// Returns the preferred slot of a digest. A larger digest never has an earlier preferred slot.
    private static func place(of digest: UInt64, among places: Int) -> Int {
        Int(truncatingIfNeeded: digest.multipliedFullWidth(by: UInt64(truncatingIfNeeded: places)).high)
    }

    /// Returns the slot of a digest. If the table doesn't contain the digest, the method returns the slot at which it would insert the
    /// digest.
    @inline(__always)
    func find(_ digest: UInt64) -> (index: Int, isFound: Bool) {
        var index = Self.place(of: digest, among: places)
        while true {
            let word = slots[index].word & ~1
            if word >= digest { return (index, word == digest) }
            if word == 0 { return (index, false) }
            index += 1
        }
    }

    /// Inserts a key. Keys that are in the way move to the next slot, up to the first free slot. O(1) expected, O(keys) if the table grows.
    mutating func insert(_ window: consuming Window, for digest: UInt64) -> Int {
        if (count + 1) * 16 > places * 13 { grow() }
        var free = find(digest).index
        while slots[free].word != 0 { free += 1 }
        while free == slotCount - 1 {
            grow()
            free = find(digest).index
            while slots[free].word != 0 { free += 1 }
        }
        let index = find(digest).index
        while free > index {
            swapSlots(free, free - 1)
            if slots[free].word & 1 == 1 { noteChange(at: free) }
            free -= 1
        }
        memory.add(window.heapBytes)
        slots[index].word = digest
        slots[index].window = window
        count += 1
        if !Self.isKey(digest) { bucketCount += 1 }
        return index
    }

    /// Removes a key. The following keys move back by one slot, up to the first key that is in its preferred slot. O(1) expected.
    mutating func remove(at index: Int) {
        memory.add(-slots[index].window.heapBytes)
        if !Self.isKey(slots[index].word) { bucketCount -= 1 }
        slots[index].word = 0
        slots[index].window = Window()
        count -= 1
        var index = index
        while slots[index + 1].word != 0, Self.place(of: slots[index + 1].word, among: places) <= index {
            swapSlots(index, index + 1)
            if slots[index].word & 1 == 1 { noteChange(at: index) }
            index += 1
        }
    }

    /// Removes all keys. O(keys).
    mutating func removeAll() {
        Self.free(slots, slotCount)
        (slots, slotCount, count, places, expiryCursor, changeCursor) = (Self.memory(1), 1, 0, 0, 0, 0)
        (changedGroups, bucketCount) = ([], 0)
        memory.add(-memory.used)
    }

    /// Exchanges the contents of two slots.
    private mutating func swapSlots(_ first: Int, _ second: Int) {
        let slot = (slots + first).move()
        (slots + first).initialize(to: (slots + second).move())
        (slots + second).initialize(to: slot)
    }

    /// Moves all keys to a larger table, which has about 1.5 times as many preferred slots, and at least 8.
    private mutating func grow() {
        var larger = Self.larger(places)
        while !rebuild(places: larger) { larger = Self.larger(larger) }
    }

    /// Returns the number of preferred slots of the next larger table.
    private static func larger(_ places: Int) -> Int { max(8, places * 3 / 2) }
    /// Returns the total number of slots for a number of preferred slots. The total includes slots for digests whose preferred slot is
    /// taken, and a last slot that stays free.
    private static func slotCount(places: Int) -> Int { places + max(8, places / 64) + 1 }

    /// The number of bytes that one more key takes. If the table must grow for the key, the number includes the bytes of the new slots.
    private var newcomerBytes: Int {
        let growth = (count + 1) * 16 > places * 13 ? Self.slotCount(places: Self.larger(places)) - slotCount : 0
        return growth * MemoryLayout<Slot>.stride + Window.firstHeapBytes(terms: terms)
    }

    /// Whether there is room for a new key.
    var hasRoom: Bool { keyCount < capacity && memory.hasRoom(for: newcomerBytes) }

    /// Returns the slot of a key to evict; `nil` if none of the examined keys has used at most half of its quota.
    ///
    /// The method compares eight random keys, or up to 32 if the first eight have all used more than half of their quota. It returns the
    /// key that has used the smallest part of its quota. If several keys have used the same part, the method returns the key whose usage
    /// ends first. In a small table, the method compares all keys.
    func victim(for digest: UInt64, at now: Int64) -> Int? {
        var random = digest ^ UInt64(truncatingIfNeeded: count)
        var best: (index: Int, usage: Double, owed: Int64)?
        let isSmall = slotCount <= 64
        for sample in 0..<(isSmall ? slotCount : 32) where isSmall || sample < 8 || best == nil {
            random &+= 0x9e37_79b9_7f4a_7c15
            var mixed = (random ^ random >> 30) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
            let start = isSmall ? sample : Self.place(of: mixed ^ mixed >> 31, among: slotCount)
            guard let index = key(from: start, except: digest) else { continue }
            let usage = slots[index].window.usage(at: now, terms: terms)
            guard usage <= 0.5 else { continue }
            let owed = slots[index].window.owed(at: now, terms: terms)
            if let best, (best.usage, best.owed) <= (usage, owed) { continue }
            best = (index, usage, owed)
        }
        return best?.index
    }

    /// Returns the slot of the first key in the 16 slots that begin with the given slot; `nil` if these slots contain no key except
    /// `digest`.
    private func key(from start: Int, except digest: UInt64) -> Int? {
        var index = start
        for _ in 0..<16 {
            if Self.isKey(slots[index].word), slots[index].word & ~1 != digest { return index }
            index = index + 1 < slotCount ? index + 1 : 0
        }
        return nil
    }

    /// Removes a key that has usage, and counts the eviction.
    mutating func evict(at index: Int) {
        remove(at: index)
        evictions += 1
    }

    /// Moves all keys to a table with a different number of preferred slots.
    ///
    /// - Returns: Whether the new table has enough slots for digests whose preferred slot is taken. If `false`, the table is unchanged.
    private mutating func rebuild(places: Int) -> Bool {
        let slotCount = Self.slotCount(places: places)
        var next = 0
        for index in 0..<self.slotCount where slots[index].word != 0 {
            next = max(next, Self.place(of: slots[index].word, among: places)) + 1
        }
        guard next < slotCount else { return false }
        let larger = Self.memory(slotCount)
        next = 0
        for index in 0..<self.slotCount where slots[index].word != 0 {
            next = max(next, Self.place(of: slots[index].word, among: places))
            swap(&larger[next], &slots[index])
            next += 1
        }
        Self.free(slots, self.slotCount)
        memory.add((slotCount - self.slotCount) * MemoryLayout<Slot>.stride)
        expiryCursor = self.places == 0 ? 0 : min(expiryCursor * places / self.places, slotCount - 1)
        (slots, self.slotCount, self.places, changeCursor) = (larger, slotCount, places, 0)
        guard recordsChanges else { return true }
        changedGroups = [UInt64](repeating: 0, count: slotCount / 4_096 + 1)
        for index in 0..<slotCount where slots[index].word & 1 == 1 { noteChange(at: index) }
        return true
    }

    /// Marks the key in a slot as changed.
    @inline(__always)
    mutating func noteChange(at index: Int) {
        guard recordsChanges, Self.isKey(slots[index].word) else { return }
        slots[index].word |= 1
        changedGroups[index / 4_096] |= 1 << UInt64(index / 64 % 64)
    }

    /// Checks up to `most` keys, and removes the keys without usage. If the table is then nearly empty, the method makes the table smaller.
    mutating func dropExpired(_ most: Int = 2, at now: Int64) {
        guard count > 0 || slotCount > 64 else { return }
        var looked = 0
        for _ in 0..<most * 8 where looked < most {
            if expiryCursor >= slotCount - 1 { expiryCursor = 0 }
            guard slots[expiryCursor].word != 0 else {
                expiryCursor += 1
                continue
            }
            looked += 1
            if slots[expiryCursor].window.isFresh(at: now, terms: terms) {
                remove(at: expiryCursor)
            } else {
                expiryCursor += 1
            }
        }
        if slotCount > 64, count * 8 < places { _ = rebuild(places: max(8, places / 2)) }
    }
}
