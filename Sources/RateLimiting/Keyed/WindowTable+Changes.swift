/// What is saved of a key, before it is known when.
struct TableRow {
    /// The key; `nil` for the shared window.
    var key: KeyDigest?
    var debt: SavedDebt
    var owed: Int64
}

extension WindowTable where Window: ~Copyable {
    /// Puts another rule in place; what is owed stays owed. O(keys) if the policy is another.
    func converted<Other: AdmissionWindow & ~Copyable>(
        to changed: RateLimitRule,
        at now: Int64,
        as: Other.Type
    ) -> WindowTable<Other> {
        var table = WindowTable<Other>(rule: changed, capacity: capacity, recordsChanges: recordsChanges)
        for index in 0..<slotCount where slots[index].word != 0 {
            let window = slots[index].window.converted(from: terms, to: table.terms, at: now, as: Other.self)
            table.noteChange(at: table.insert(window, for: slots[index].word & ~1))
        }
        table.overflow = overflow.converted(from: terms, to: table.terms, at: now, as: Other.self)
        (table.overflowHasChanged, table.resets) = (true, resets)
        return table
    }

    /// What a key owes: its own state, or the shared one, since it may have been admitted from it.
    func row(of key: KeyDigest, at now: Int64) -> TableRow {
        let (index, isFound) = find(key.word)
        return isFound ? row(at: index, key, now) : row(at: -1, key, now)
    }

    /// Takes what a key owes: it has not changed since.
    mutating func takeRow(of key: KeyDigest, at now: Int64) -> TableRow {
        let (index, isFound) = find(key.word)
        if isFound { slots[index].word &= ~1 }
        return row(at: isFound ? index : -1, key, now)
    }

    private func row(at index: Int, _ key: KeyDigest?, _ now: Int64) -> TableRow {
        index >= 0
            ? TableRow(
                key: key,
                debt: slots[index].window.debt(at: now, terms: terms),
                owed: slots[index].window.owed(at: now, terms: terms)
            )
            : TableRow(key: key, debt: overflow.debt(at: now, terms: terms), owed: overflow.owed(at: now, terms: terms))
    }

    /// Takes some of what has changed. O(count), and a look at a bit for each 64 places.
    mutating func takeChanges(upTo count: Int, at now: Int64) -> [TableRow] {
        var rows: [TableRow] = []
        guard recordsChanges, count > 0 else { return rows }
        if overflowHasChanged { rows.append(row(at: -1, nil, now)) }
        overflowHasChanged = false
        while rows.count < count, let key = resets.popLast() {
            guard !find(key.word).isFound else { continue }
            rows.append(TableRow(key: key, debt: Window().debt(at: now, terms: terms), owed: 0))
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
    mutating func returnChange(_ key: KeyDigest?, isReset: Bool) {
        guard let key else {
            overflowHasChanged = true
            return
        }
        let (index, isFound) = find(key.word)
        if isFound { noteChange(at: index) } else if isReset && recordsChanges { resets.append(key) }
    }

    /// Adds saved debt to a key, or to the shared state if the table is full. What was shared is added to all keys, too: one that
    /// was forgotten after it was saved may have been admitted from it since. O(keys) then.
    mutating func restore(_ snapshot: RateLimitSnapshot, to key: KeyDigest?, at now: Int64, time: SnapshotTime) {
        changeAll(key, at: now) { window, terms in window.restore(snapshot, at: now, terms: terms, time: time) }
    }

    /// Spends the whole quota some time ago, for one key or for all of them and for newcomers. O(keys) if for all.
    mutating func spendAll(of key: KeyDigest?, at now: Int64, ago: Int64) {
        changeAll(key, at: now) { window, terms in window.spendAll(at: now, terms: terms, ago: ago) }
    }

    /// - Parameter key: `nil` for all keys and the newcomers.
    private mutating func changeAll(_ key: KeyDigest?, at now: Int64, _ add: (inout Window, RateLimitTerms) -> Void) {
        if key == nil {
            for index in 0..<slotCount where slots[index].word != 0 {
                add(&slots[index].window, terms)
                noteChange(at: index)
            }
        }
        change(key, at: now, add)
    }

    /// Adds debt to a key, or to the shared state if the table is full or there is no key.
    mutating func change(_ key: KeyDigest?, at now: Int64, _ add: (inout Window, RateLimitTerms) -> Void) {
        guard let key else { return changeOverflow(add) }
        let (index, isFound) = find(key.word)
        if isFound {
            add(&slots[index].window, terms)
            return noteChange(at: index)
        }
        dropExpired(at: now)
        guard count < capacity else { return changeOverflow(add) }
        var window = overflow.isFresh(at: now, terms: terms) ? Window() : overflow.copy()
        add(&window, terms)
        if !window.isFresh(at: now, terms: terms) { noteChange(at: insert(window, for: key.word)) }
    }

    private mutating func changeOverflow(_ add: (inout Window, RateLimitTerms) -> Void) {
        overflowHasChanged = true
        add(&overflow, terms)
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
        for index in 0..<slotCount where recordsChanges && slots[index].word != 0 {
            resets.append(KeyDigest(rawValue: slots[index].word & ~1))
        }
        removeAll()
        overflowHasChanged = true
    }
}

extension KeyDigest {
    /// The digest as it stands in a table.
    var word: UInt64 { rawValue & ~1 }
}
