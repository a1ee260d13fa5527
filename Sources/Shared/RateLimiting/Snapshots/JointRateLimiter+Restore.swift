import Timekeeping

extension JointRateLimiter {
    /// Adds a saved debt. It never gives anything back: what the key owes already stays. O(quota log quota).
    ///
    /// Units older than the window are dropped, ages are clamped to the past. Under another algorithm than the saved one the
    /// whole quota counts as spent. Within one boot the time since the saving is told by the boot's clock, whatever the wall clock
    /// does; across boots by the wall clock, and one that went backwards tells no time at all. Rows of earlier versions for windows that
    /// newcomers shared are ignored.
    /// - Parameters:
    ///   - saved: What was saved, under this limiter's secret.
    ///   - time: Now, on the clocks by which it was saved.
    /// - Returns: Whether there is a rule of that name; what was saved under another is ignored.
    @discardableResult
    public func restore(_ saved: SavedRateLimit, at time: SnapshotTime = .now()) -> Bool {
        guard let rule = names.firstIndex(of: saved.state.policy) else { return false }
        if saved.key == .everyone {
            for index in 0..<rules[rule].count {
                rules[rule][index].withTable(at: elapsed()) { table, now in
                    table.restore(saved.state, to: saved.key, at: now, time: time)
                }
            }
        } else if saved.key.isKey {
            rules[rule].shard(of: saved.key).withTable(at: elapsed()) { table, now in
                table.restore(saved.state, to: saved.key, at: now, time: time)
            }
        }
        return true
    }

    /// Counts as spent what may have been admitted, to whomever, in a span that was not saved, such as the last second before a
    /// kill: the whole quota of every key, known or not.
    ///
    /// It is called after the saved debts are restored. What is spent returns as if all of it was admitted at the span's end.
    /// O(keys), one lock at a time.
    /// - Parameters:
    ///   - span: The longest time that may not have been saved.
    ///   - lastSave: When was last saved.
    ///   - time: Now, on the same clocks.
    ///   - policies: The names of the policies whose admissions may be missing; all of them if `nil`.
    public func chargeLost(
        _ span: Duration,
        after lastSave: SnapshotTime,
        at time: SnapshotTime = .now(),
        under policies: Set<String>? = nil
    ) {
        let ago = max(0, lastSave.nanoseconds(to: time) - span.wholeNanosecondsRoundedUp)
        for (name, rule) in zip(names, rules) where policies?.contains(name) ?? true {
            for index in 0..<rule.count {
                rule[index].withTable(at: elapsed()) { table, now in table.spendAll(of: nil, at: now, ago: ago) }
            }
        }
    }
}
