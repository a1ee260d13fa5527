/// The keys of one shard and what each owes: an open table sorted by digest, with the states in it.
///
/// A digest's place is its share of the range of digests times the places. Who finds it taken moves on, past smaller digests and
/// before larger ones, so that the table is sorted with gaps, a search ends at the first larger digest, and growing is one pass
/// from left to right. At most 13 of 16 places are taken; 16 bytes a place for 8 bytes of state. Bounded; a newcomer looks at two
/// others, there is no scan.
struct WindowTable<Window: AdmissionWindow & ~Copyable>: ~Copyable {
    struct Slot: ~Copyable {
        /// The digest, 0 for a free place; the lowest bit notes a change that was not taken.
        var word: UInt64 = 0
        var window = Window()
    }

    // What every decision reads stands together.
    private(set) var slots: UnsafeMutablePointer<Slot>
    /// The number of places to which digests are mapped; behind them is room for those who move on.
    private var places = 0
    let terms: RateLimitTerms
    let recordsChanges: Bool
    let mode: RateLimitRule.Mode
    /// What newcomers share once the table is full.
    var overflow = Window()
    var overflowHasChanged = false
    private(set) var count = 0
    let capacity: Int
    /// The number of slots; the last is always free.
    private(set) var slotCount = 1
    private var expiryCursor = 0
    let rule: RateLimitRule
    /// Which groups of 64 slots hold changes.
    var changedGroups: [UInt64] = []
    var changeCursor = 0
    /// Keys that were reset and whose saved rows must go.
    var resets: [KeyDigest] = []

    init(rule: RateLimitRule, capacity: Int, recordsChanges: Bool) {
        self.rule = rule
        self.capacity = capacity
        self.recordsChanges = recordsChanges
        terms = rule.policy.terms
        mode = rule.mode
        slots = Self.memory(1)
    }

    deinit { Self.free(slots, slotCount) }

    private static func memory(_ count: Int) -> UnsafeMutablePointer<Slot> {
        let slots = UnsafeMutablePointer<Slot>.allocate(capacity: count)
        for index in 0..<count { (slots + index).initialize(to: Slot()) }
        return slots
    }

    private static func free(_ slots: UnsafeMutablePointer<Slot>, _ count: Int) {
        slots.deinitialize(count: count)
        slots.deallocate()
    }

    private static func place(of digest: UInt64, among places: Int) -> Int {
        Int(truncatingIfNeeded: digest.multipliedFullWidth(by: UInt64(truncatingIfNeeded: places)).high)
    }

    /// Where a digest stands, or would stand.
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

    /// Gives a newcomer a place; those behind it up to the next free one move on. O(1) expected, O(keys) if the table grows.
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
        slots[index].word = digest
        slots[index].window = window
        count += 1
        return index
    }

    /// Takes a key out; those behind it that had moved on come back. O(1) expected.
    mutating func remove(at index: Int) {
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

    /// Takes all keys out. O(keys).
    mutating func removeAll() {
        Self.free(slots, slotCount)
        (slots, slotCount, count, places, expiryCursor, changeCursor) = (Self.memory(1), 1, 0, 0, 0, 0)
        changedGroups = []
        overflow = Window()
    }

    private mutating func swapSlots(_ first: Int, _ second: Int) {
        let slot = (slots + first).move()
        (slots + first).initialize(to: (slots + second).move())
        (slots + second).initialize(to: slot)
    }

    private mutating func grow() {
        var larger = max(8, places * 3 / 2)
        while !rebuild(places: larger) { larger = larger * 3 / 2 }
    }

    /// Moves all keys to a table of so many places.
    /// - Returns: Whether those who moved on found room.
    private mutating func rebuild(places: Int) -> Bool {
        let slotCount = places + max(8, places / 64) + 1
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
        expiryCursor = self.places == 0 ? 0 : min(expiryCursor * places / self.places, slotCount - 1)
        (slots, self.slotCount, self.places, changeCursor) = (larger, slotCount, places, 0)
        guard recordsChanges else { return true }
        changedGroups = [UInt64](repeating: 0, count: slotCount / 4_096 + 1)
        for index in 0..<slotCount where slots[index].word & 1 == 1 { noteChange(at: index) }
        return true
    }

    /// Notes that what stands at a place has changed.
    @inline(__always)
    mutating func noteChange(at index: Int) {
        guard recordsChanges else { return }
        slots[index].word |= 1
        changedGroups[index / 4_096] |= 1 << UInt64(index / 64 % 64)
    }

    /// Looks at two keys and forgets those that are as good as new.
    mutating func dropExpired(at now: Int64) {
        var looked = 0
        for _ in 0..<16 where looked < 2 {
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
    }
}
