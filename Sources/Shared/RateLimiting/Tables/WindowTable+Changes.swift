/// The usage of one key in a form that can be saved. The row doesn't contain the time at which the usage was read, so the caller adds this
/// time.
struct TableRow {
    /// The digest of the key.
    var key: KeyDigest
    /// The usage at the instant when the row was created.
    var usage: SavedUsage
    /// The nanoseconds from the creation of the row until the key has no usage.
    var owed: Int64
}

extension WindowTable where Window: ~Copyable {
    /// Returns a table with another rule and the same usage. O(keys).
    func converted<Other: AdmissionWindow & ~Copyable>(
        to changed: RateLimitRule,
        at now: Int64,
        as: Other.Type
    ) -> WindowTable<Other> {
        var table = WindowTable<Other>(
            rule: changed,
            capacity: capacity,
            memory: memory.emptied,
            recordsChanges: recordsChanges
        )
        for index in 0..<slotCount where slots[index].word != 0 {
            let window = slots[index].window.converted(from: terms, to: table.terms, at: now, as: Other.self)
            table.noteChange(at: table.insert(window, for: slots[index].word & ~1))
        }
        (table.resets, table.everyoneHasChanged) = (resets, everyoneHasChanged)
        (table.evictions, table.fallbacks) = (evictions, fallbacks)
        return table
    }

    /// Returns the usage of a key; `nil` if the key doesn't have its own window.
    func row(of key: KeyDigest, at now: Int64) -> TableRow? {
        let (index, isFound) = find(key.word)
        return isFound ? row(at: index, key, now) : nil
    }

    /// Returns the usage of a key, and marks the key as unchanged, because the caller saves the row. Returns `nil` if the key doesn't have
    /// its own window.
    mutating func takeRow(of key: KeyDigest, at now: Int64) -> TableRow? {
        let (index, isFound) = find(key.word)
        guard isFound else { return nil }
        slots[index].word &= ~1
        return row(at: index, key, now)
    }

    /// Returns the usage of the key in a slot.
    private func row(at index: Int, _ key: KeyDigest, _ now: Int64) -> TableRow {
        TableRow(
            key: key,
            usage: slots[index].window.savedUsage(at: now, terms: terms),
            owed: slots[index].window.owed(at: now, terms: terms)
        )
    }

    /// Returns up to `count` rows of changed keys, and marks these keys as unchanged, because the caller saves the rows. O(count), plus one
    /// bit test per 64 slots.
    mutating func takeChanges(upTo count: Int, at now: Int64) -> [TableRow] {
        var rows: [TableRow] = []
        guard recordsChanges, count > 0 else { return rows }
        if everyoneHasChanged { rows.append(everyone(at: now)) }
        everyoneHasChanged = false
        while rows.count < count, let key = resets.popLast() {
            guard !find(key.word).isFound else { continue }
            rows.append(TableRow(key: key, usage: Window().savedUsage(at: now, terms: terms), owed: 0))
        }
        var examined = 0
        while examined < changedGroups.count * 64, rows.count < count {
            if changeCursor >= changedGroups.count * 64 { changeCursor = 0 }
            let position = changeCursor % 64
            let unchanged = min(64 - position, (changedGroups[changeCursor / 64] >> UInt64(position)).trailingZeroBitCount)
            guard unchanged == 0 else {
                (examined, changeCursor) = (examined + unchanged, changeCursor + unchanged)
                continue
            }
            if takeGroup(changeCursor, upTo: count, at: now, into: &rows) { changeCursor += 1 }
            examined += 1
        }
        return rows
    }

    /// Appends the rows of the changed keys in one group of 64 slots, and marks these keys as unchanged.
    ///
    /// - Returns: Whether the group contains no further changes.
    private mutating func takeGroup(_ group: Int, upTo count: Int, at now: Int64, into rows: inout [TableRow]) -> Bool {
        let bit: UInt64 = 1 << UInt64(group % 64)
        guard changedGroups[group / 64] & bit != 0 else { return true }
        for index in group * 64..<min(group * 64 + 64, slotCount) where slots[index].word & 1 == 1 {
            if rows.count == count { return false }
            slots[index].word &= ~1
            rows.append(row(at: index, KeyDigest(rawValue: slots[index].word), now))
        }
        changedGroups[group / 64] &= ~bit
        return true
    }

    /// Marks a key as changed again, because the caller could not save its row.
    /// - Parameter isReset: Whether the row reported that the key was reset.
    mutating func returnChange(_ key: KeyDigest, isReset: Bool) {
        guard key != .everyone else { return everyoneHasChanged = true }
        let (index, isFound) = find(key.word)
        if isFound { noteChange(at: index) } else if isReset && recordsChanges { resets.append(key) }
    }

    /// Adds saved usage to a key. If the key is ``KeyDigest/everyone``, the method adds the usage to the windows that new keys share (the
    /// buckets).
    mutating func restore(_ snapshot: RateLimitSnapshot, to key: KeyDigest, at now: Int64, time: SnapshotTime) {
        if key == .everyone {
            return changeBuckets { window, terms in window.restore(snapshot, at: now, terms: terms, time: time) }
        }
        // If the key has no other usage, and the system was not restarted since the save, the saved row is still correct and need not be
        // saved again.
        let isSaved = snapshot.time.bootID == time.bootID && !time.bootID.isEmpty && bucketCount == 0 && !find(key.word).isFound
        change(key, at: now, isSaved: isSaved) { window, terms in
            window.restore(snapshot, at: now, terms: terms, time: time)
        }
    }

    /// Counts the whole quota of a key as used `ago` nanoseconds before `now`. If `key` is `nil`, the method charges all keys and the
    /// buckets (the windows that new keys share). O(keys) for all keys.
    mutating func spendAll(of key: KeyDigest?, at now: Int64, ago: Int64) {
        if let key { return change(key, at: now) { $0.spendAll(at: now, terms: $1, ago: ago) } }
        changeBuckets { $0.spendAll(at: now, terms: $1, ago: ago) }
        for index in 0..<slotCount where Self.isKey(slots[index].word) {
            change(at: index) { $0.spendAll(at: now, terms: $1, ago: ago) }
        }
    }

    /// Returns the row of ``KeyDigest/everyone``. It contains the usage with which new keys start, after ``spendAll(of:at:ago:)`` has
    /// charged all keys.
    private func everyone(at now: Int64) -> TableRow {
        let (index, isFound) = find(Self.bucket(0))
        guard isFound else { return TableRow(key: .everyone, usage: Window().savedUsage(at: now, terms: terms), owed: 0) }
        return row(at: index, .everyone, now)
    }

    /// Changes the 16 windows that new keys share (the buckets), and first creates the windows that don't exist yet.
    private mutating func changeBuckets(_ add: (inout Window, RateLimitTerms) -> Void) {
        for number in 0..<16 {
            let (index, isFound) = find(Self.bucket(number))
            change(at: isFound ? index : insert(Window(), for: Self.bucket(number)), add)
        }
        everyoneHasChanged = true
    }

    /// Changes the window in a slot, and updates the number of used bytes.
    private mutating func change(at index: Int, _ add: (inout Window, RateLimitTerms) -> Void) {
        let bytes = slots[index].window.heapBytes
        add(&slots[index].window, terms)
        memory.add(slots[index].window.heapBytes - bytes)
        noteChange(at: index)
    }

    /// Adds usage to a key, and inserts the key if necessary. If there is no room for a new key, the method evicts a key that has used at
    /// most half of its quota.
    ///
    /// If no key can be evicted, the result depends on the new key. If the new key has used at most half of its quota, the method drops its
    /// usage and counts an eviction. Otherwise, the method inserts the new key, although the table then exceeds its memory. The excess is
    /// small, because all saved usage fitted into memory before.
    ///
    /// - Parameter isSaved: Whether the resulting usage of a new key is already saved, so that the key isn't marked as changed.
    mutating func change(
        _ key: KeyDigest,
        at now: Int64,
        isSaved: Bool = false,
        _ add: (inout Window, RateLimitTerms) -> Void
    ) {
        let (index, isFound) = find(key.word)
        if isFound { return change(at: index, add) }
        var window = newWindow(for: key.word)
        add(&window, terms)
        guard !window.isFresh(at: now, terms: terms) else { return }
        dropExpired(at: now)
        if !hasRoom {
            if let victim = victim(for: key.word, at: now) {
                evict(at: victim)
            } else if window.usage(at: now, terms: terms) <= 0.5 {
                evictions += 1
                return
            }
        }
        let place = insert(window, for: key.word)
        if !isSaved { noteChange(at: place) }
    }

    /// Removes the usage of one key, or of all keys if `key` is `nil`. O(keys) for all keys.
    mutating func reset(_ key: KeyDigest?) {
        guard let key else { return resetAll() }
        let (index, isFound) = find(key.word)
        guard isFound else { return }
        remove(at: index)
        if recordsChanges { resets.append(key) }
    }

    /// Removes all keys. If the table records changes, it also records the keys as reset, so that the caller deletes their saved rows.
    private mutating func resetAll() {
        for index in 0..<slotCount where recordsChanges && Self.isKey(slots[index].word) {
            resets.append(KeyDigest(rawValue: slots[index].word & ~1))
        }
        removeAll()
    }
}

extension KeyDigest {
    /// The digest in the form in which a table stores it.
    var word: UInt64 { rawValue & ~1 }
}
