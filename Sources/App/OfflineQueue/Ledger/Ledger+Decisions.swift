import Timekeeping

/// The decisions of the queue. A decision doesn't change the ledger. The caller appends the resulting entries to the journal.
extension Ledger {
    /// Checks that new content of an owner stays within the limits.
    /// - Parameters:
    ///   - size: The bytes of the new content.
    ///   - known: The request that the new content replaces. The present content of this request doesn't count.
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
    /// - Throws: ``QueueError/unknownRequest`` if the request is not stored. ``QueueError/attemptBegan`` if the request is a dead letter,
    ///   or if the server may have received it.
    func editable(_ id: QueuedRequestID) throws(QueueError) -> Record {
        guard let record = records[id] else { throw .unknownRequest }
        guard attempts[id] == nil, !record.isBuried else { throw .attemptBegan }
        return record
    }

    /// Returns the pending request that has the coalescing key; `nil` if there is none, or if an attempt to send the request began.
    func replaceable(_ key: String?, lane: String, of owner: QueueOwner) -> QueuedRequestID? {
        guard let key, let lane = self.lane(lane, of: owner), let id = coalesced(key, lane: lane), attempts[id] == nil else {
            return nil
        }
        return id
    }

    /// Returns the header with which a request is stored again after an edit or a retry.
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

    /// Returns the reason why a request must become a dead letter; `nil` if it may be sent.
    ///
    /// If the outcome of a request is unknown, the server may have performed the request. In this case, only the age of the idempotency key
    /// matters, and not the lifetime. If this age can't be determined, the key counts as too old.
    ///
    /// If the server surely never performed the request, the lifetime applies. If the age of the request can't be determined, the request
    /// may be sent.
    func overdue(_ id: QueuedRequestID, at now: QueueTime, in limits: QueueLimits) -> Burial.Reason? {
        guard let record = records[id], !record.isBuried else { return nil }
        if let attempts = attempts[id] {
            if attempts.failures >= limits.failures { return .failedRepeatedly }
            if let doubt = attempts.doubtSince {
                // An unknown age may exceed the time for which the server stores the key.
                guard let age = now.age(since: doubt) else { return .unknownOutcome }
                return age >= limits.keyLifetime.wholeMilliseconds ? .unknownOutcome : nil
            }
        }
        guard let age = now.age(since: created(record)) else { return nil }
        return age >= record.lifetime ? .expired : nil
    }

    /// The reason why an attempt must not begin.
    enum AttemptRefusal: Error, Hashable {
        /// The request was delivered, edited or removed. Or another request of the lane must be sent first.
        case gone
        /// Another process sends the requests of the queue.
        case notSender
        /// The request must become a dead letter.
        case overdue(Burial.Reason)
    }

    /// Checks that an attempt may begin now. The check runs under the lock of the journal, in the transaction that records the attempt. No
    /// other process can therefore change the request between the check and the record.
    /// - Parameters:
    ///   - content: The frame with the content that the process wants to send. If the request was edited meanwhile, its content is in
    ///     another frame, and the attempt must not begin.
    ///   - holder: The number of the process that wants to send.
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

    /// Returns the entry with which a process takes or renews the role of the sender. A lease gives one process this role for some time.
    /// - Parameter duration: The length of the lease, in milliseconds.
    /// - Returns: `nil` if the process took or renewed the role less than a third of the lease ago.
    /// - Throws: ``AttemptRefusal/notSender`` if another process has the role.
    func leasing(by holder: UInt64, at now: QueueTime, for duration: Int64) throws(AttemptRefusal) -> QueueEntry? {
        if let lease, holds(at: now) {
            guard lease.holder == holder else { throw .notSender }
            if let age = now.age(since: lease.since), age < lease.milliseconds / 3 { return nil }
        }
        return .leased(holder: holder, now, milliseconds: duration)
    }

    /// Returns the milliseconds until the present lease ends; 0 if no process has the role.
    func leaseEnd(at now: QueueTime) -> Int64 {
        guard let lease, holds(at: now), let age = now.age(since: lease.since) else { return 0 }
        return lease.milliseconds - age
    }

    /// Returns whether the lease is still valid. A lease is not valid if its age is unknown. A restart of the device also ends the lease,
    /// because the restart ended the process.
    private func holds(at now: QueueTime) -> Bool {
        guard let lease else { return false }
        // The device was restarted, so the process has ended.
        if lease.since.boot != now.boot { return false }
        guard let age = now.age(since: lease.since) else { return false }
        return age < lease.milliseconds
    }
}
