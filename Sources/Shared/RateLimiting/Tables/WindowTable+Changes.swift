/// What is saved of a key, before it is known when.
struct TableRow {
    var key: KeyDigest
    var usage: SavedUsage
    var owed: Int64
}

extension WindowTable where Window: ~Copyable {
    /// Puts another rule in place; what is owed stays owed. O(keys) if the policy is another.
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

    /// What a key owes; `nil` if it has no window of its own.
    func row(of key: KeyDigest, at now: Int64) -> TableRow? {
        let (index, isFound) = find(key.word)
        return isFound ? row(at: index, key, now) : nil
    }

    /// Takes what a key owes: it has not changed since.
    mutating func takeRow(of key: KeyDigest, at now: Int64) -> TableRow? {
        let (index, isFound) = find(key.word)
        guard isFound else { return nil }
        slots[index].word &= ~1
        return row(at: index, key, now)
    }

    private func row(at index: Int, _ key: KeyDigest, _ now: Int64) -> TableRow {
        TableRow(
            key: key,
            usage: slots[index].window.savedUsage(at: now, terms: terms),
            owed: slots[index].window.owed(at: now, terms: terms)
        )
    }

    /// Takes some of what has changed. O(count), and a look at a bit for each 64 places.
    mutating func takeChanges(upTo count: Int, at now: Int64) -> [TableRow] {
        var rows: [TableRow] = []
        guard recordsChanges, count > 0 else { return rows }
        if everyoneHasChanged { rows.append(everyone(at: now)) }
        everyoneHasChanged = false
        while rows.count < count, let key = resets.popLast() {
            guard !find(key.word).isFound else { continue }
            rows.append(TableRow(key: key, usage: Window().savedUsage(at: now, terms: terms), owed: 0))
        }
        for _ in 0..<changedGroups.count * 64 where rows.count < count {
            if changeCursor >= changedGroups.count * 64 { changeCursor = 0 }
            if takeGroup(changeCursor, upTo: count, at: now, into: &rows) { changeCursor += 1 }
        }
        return rows
    }

    /// - Returns: Whether nothing of the group is left.
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

    /// Puts a change back that could not be saved.
    mutating func returnChange(_ key: KeyDigest, isReset: Bool) {
        guard key != .everyone else { return everyoneHasChanged = true }
        let (index, isFound) = find(key.word)
        if isFound { noteChange(at: index) } else if isReset && recordsChanges { resets.append(key) }
    }

    /// Adds saved debt to a key, or to all newcomers.
    mutating func restore(_ snapshot: RateLimitSnapshot, to key: KeyDigest, at now: Int64, time: SnapshotTime) {
        if key == .everyone {
            return changeBuckets { window, terms in window.restore(snapshot, at: now, terms: terms, time: time) }
        }
        // A row of this boot still says the truth of a key that is not known otherwise: it need not be saved again.
        let isSaved = snapshot.time.bootID == time.bootID && !time.bootID.isEmpty && bucketCount == 0 && !find(key.word).isFound
        change(key, at: now, isSaved: isSaved) { window, terms in
            window.restore(snapshot, at: now, terms: terms, time: time)
        }
    }

    /// Spends the whole quota some time ago, for one key or for all of them and for newcomers. O(keys) if for all.
    mutating func spendAll(of key: KeyDigest?, at now: Int64, ago: Int64) {
        if let key { return change(key, at: now) { $0.spendAll(at: now, terms: $1, ago: ago) } }
        changeBuckets { $0.spendAll(at: now, terms: $1, ago: ago) }
        for index in 0..<slotCount where Self.isKey(slots[index].word) {
            change(at: index) { $0.spendAll(at: now, terms: $1, ago: ago) }
        }
    }

    /// What newcomers owe, after ``spendAll(of:at:ago:)``.
    private func everyone(at now: Int64) -> TableRow {
        let (index, isFound) = find(Self.bucket(0))
        guard isFound else { return TableRow(key: .everyone, usage: Window().savedUsage(at: now, terms: terms), owed: 0) }
        return row(at: index, .everyone, now)
    }

    private mutating func changeBuckets(_ add: (inout Window, RateLimitTerms) -> Void) {
        for number in 0..<16 {
            let (index, isFound) = find(Self.bucket(number))
            change(at: isFound ? index : insert(Window(), for: Self.bucket(number)), add)
        }
        everyoneHasChanged = true
    }

    private mutating func change(at index: Int, _ add: (inout Window, RateLimitTerms) -> Void) {
        let bytes = slots[index].window.heapBytes
        add(&slots[index].window, terms)
        memory.add(slots[index].window.heapBytes - bytes)
        noteChange(at: index)
    }

    /// Adds debt to a key. If there is no room for it, it takes the place of one that owes less than half of its quota; a key that owes more
    /// than half is added in any case: what is saved was in memory before.
    /// - Parameter isSaved: Whether the key then owes what was saved.
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

    /// Forgets what a key owes, or what all of them owe. O(keys) if all.
    mutating func reset(_ key: KeyDigest?) {
        guard let key else { return resetAll() }
        let (index, isFound) = find(key.word)
        guard isFound else { return }
        remove(at: index)
        if recordsChanges { resets.append(key) }
    }

    private mutating func resetAll() {
        for index in 0..<slotCount where recordsChanges && Self.isKey(slots[index].word) {
            resets.append(KeyDigest(rawValue: slots[index].word & ~1))
        }
        removeAll()
    }
}

extension KeyDigest {
    /// The digest as it stands in a table.
    var word: UInt64 { rawValue & ~1 }
}
