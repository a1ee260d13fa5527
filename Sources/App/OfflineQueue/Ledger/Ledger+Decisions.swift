import Timekeeping

/// The decisions of the queue. They do not change the ledger: the caller appends the resulting entries to the journal.
extension Ledger {
    /// Requires that an owner may store a number of bytes.
    /// - Parameters:
    ///   - size: The bytes of the new content.
    ///   - known: The request that the new content replaces. It does not count.
    /// - Throws: ``QueueError/full(_:)`` with the limit that would be exceeded.
    func requireRoom(for size: Int, of owner: QueueOwner, replacing known: QueuedRequestID? = nil, in limits: QueueLimits)
        throws(QueueError)
    {
        guard let usage = usage(of: owner) else {
            if limits.count < 1 { throw .full(.count) }
            if size > limits.bytes { throw .full(.bytes) }
            return
        }
        let replaced = known.flatMap { records[$0] }
        if replaced == nil, usage.count >= limits.count { throw .full(.count) }
        if usage.bytes - Int(replaced?.size ?? 0) + size > limits.bytes { throw .full(.bytes) }
    }

    /// Returns a request that may still be changed.
    /// - Throws: ``QueueError/unknownRequest``, or ``QueueError/attemptBegan`` if an attempt may have reached a server or the request is a
    ///   dead letter.
    func editable(_ id: QueuedRequestID) throws(QueueError) -> Record {
        guard let record = records[id] else { throw .unknownRequest }
        guard attempts[id] == nil, !record.isBuried else { throw .attemptBegan }
        return record
    }

    /// Returns the pending request that a coalescing key replaces; `nil` if there is none, or if an attempt to send it began.
    func replaceable(_ key: String?, lane: String, of owner: QueueOwner) -> QueuedRequestID? {
        guard let key, let lane = self.lane(lane, of: owner), let id = coalesced(key, lane: lane), attempts[id] == nil else {
            return nil
        }
        return id
    }

    /// Returns the header with which a request is stored again when it is edited or put back.
    func header(of id: QueuedRequestID, _ record: Record) -> RequestHeader {
        let lane = lanes[Int(record.lane)]
        return RequestHeader(
            owner: owners[lane.owner].owner,
            lane: lane.name,
            created: created(record),
            lifetime: record.lifetime,
            coalescingKey: coalescingKey(of: id)
        )
    }

    /// Returns the reason for which a request must become a dead letter; `nil` if it may be sent.
    ///
    /// A request whose outcome is unknown never expires by its lifetime, because the server may have performed it: only the age of its key
    /// counts. If that age can't be determined, it counts as too old. If the age of a request that was never performed can't be determined,
    /// the request may be sent.
    func overdue(_ id: QueuedRequestID, at now: QueueTime, in limits: QueueLimits) -> Burial.Reason? {
        guard let record = records[id], !record.isBuried else { return nil }
        if let attempts = attempts[id] {
            if attempts.failures >= limits.failures { return .failedRepeatedly }
            if let doubt = attempts.doubtSince {
                // An age that is not known may exceed the time for which the server knows the key.
                guard let age = now.age(since: doubt) else { return .unknownOutcome }
                return age >= limits.keyLifetime.wholeMilliseconds ? .unknownOutcome : nil
            }
        }
        guard let age = now.age(since: created(record)) else { return nil }
        return age >= record.lifetime ? .expired : nil
    }

    /// The reason for which an attempt may not begin.
    enum AttemptRefusal: Error, Hashable {
        /// The request was delivered, edited or removed, or another request of the lane goes first.
        case gone
        /// Another process sends the requests of the queue.
        case notSender
        /// The request has to become a dead letter.
        case overdue(Burial.Reason)
    }

    /// Requires that an attempt may begin now. Called under the lock of the journal, in the transaction that notes the attempt, so that no
    /// other process can change the request between the check and the note.
    /// - Parameters:
    ///   - content: The frame with the content that is to be sent. If the request was edited meanwhile, it has another one.
    ///   - holder: The process that wants to send.
    /// - Throws: ``AttemptRefusal``.
    func requireAttempt(
        _ id: QueuedRequestID,
        content: UInt64,
        by holder: UInt64,
        at now: QueueTime,
        in limits: QueueLimits
    ) throws(AttemptRefusal) {
        guard let record = records[id], record.content == content, !record.isBuried, lanes[Int(record.lane)].line.first == id
        else {
            throw .gone
        }
        guard isSender(holder, at: now) else { throw .notSender }
        if let reason = overdue(id, at: now, in: limits) { throw .overdue(reason) }
    }

    /// Returns whether a process has the role of the sender now.
    func isSender(_ holder: UInt64, at now: QueueTime) -> Bool { lease?.holder == holder && holds(at: now) }

    /// Returns the entry by which a process takes or renews the role of the sender.
    /// - Parameter duration: The length of the lease, in milliseconds.
    /// - Returns: `nil` if the process took or renewed the role less than a third of its lease ago.
    /// - Throws: ``AttemptRefusal/notSender`` if another process has the role.
    func leasing(by holder: UInt64, at now: QueueTime, for duration: Int64) throws(AttemptRefusal) -> QueueEntry? {
        if let lease, holds(at: now) {
            guard lease.holder == holder else { throw .notSender }
            if let age = now.age(since: lease.since), age < lease.milliseconds / 3 { return nil }
        }
        return .leased(holder: holder, now, milliseconds: duration)
    }

    /// Returns the time until the present lease ends, in milliseconds; 0 if no process has the role.
    func leaseEnd(at now: QueueTime) -> Int64 {
        guard let lease, holds(at: now), let age = now.age(since: lease.since) else { return 0 }
        return lease.milliseconds - age
    }

    /// Returns whether the lease has not ended. A lease of another boot has ended, because its process has. A lease of unknown age counts
    /// as ended.
    private func holds(at now: QueueTime) -> Bool {
        guard let lease else { return false }
        // The process of another boot has ended.
        if lease.since.boot != now.boot { return false }
        guard let age = now.age(since: lease.since) else { return false }
        return age < lease.milliseconds
    }
}
