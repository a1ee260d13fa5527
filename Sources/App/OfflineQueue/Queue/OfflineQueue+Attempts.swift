import ErrorContract
import Foundation
import HTTPTypes
import RateLimiting
import ResilientHTTP
import Synchronization
import Timekeeping

/// Sending one request.
extension OfflineQueue {
    /// Makes a call for a stored request and records the result.
    func send(_ id: QueuedRequestID, lane: Int) async {
        let ending = await call(id)
        let (now, chance) = (client.environment.clock.now, client.environment.chance())
        journal.withState { ledger in
            dispatcher.withLock { $0.ended(lane, with: ending, in: ledger, at: now, chance: chance) }
        }
        if ending != .next { hub.settle(id, .later) }
        if case .pause = ending { announcePauses() }
    }

    /// Sends a stored request and writes the result to the journal.
    /// - Returns: The effect on the lane of the request.
    private func call(_ id: QueuedRequestID) async -> Dispatcher.Ending {
        let changes = sessionChanges.load(ordering: .acquiring)
        let facts = journal.withState { ledger in
            ledger.records[id].map { (frame: $0.content, owner: ledger.owner(of: $0), created: ledger.created($0)) }
        }
        guard let facts else { return .next }
        if let end = takeUnwritten(id, content: facts.frame) { return await finish(id, content: facts.frame, end) }
        let content: RequestContent
        do throws(QueueError) {
            content = try self.content(of: id, frame: facts.frame, facts.owner)
        } catch {
            if await buryIfOverdue(id, content: facts.frame, facts.owner) { return .next }
            // The request was removed or replaced meanwhile, or the request can't be read now.
            if case .unknownRequest = error { return .backOff(nil) }
            return .hold(options.watchdog)
        }
        do throws(APIError) {
            let (response, bytes) = try await exchange(id, content, frame: facts.frame, facts.owner, facts.created)
            return await finish(id, content: facts.frame, .delivered(id), outcome: .delivered(response, bytes))
        } catch {
            let isNewSession = sessionChanges.load(ordering: .acquiring) != changes
            return await settle(id, content: facts.frame, facts.owner, error, isNewSession: isNewSession)
        }
    }

    /// Makes a request whose content can't be read a dead letter if it is too old to be sent. Otherwise, the request would block its lane
    /// forever if its content stays unreadable, for example because the key of the cipher is lost.
    /// - Returns: Whether the request is now a dead letter. The result is `false` if another process is the sender, or if the dead letter
    ///   can't be written.
    private func buryIfOverdue(_ id: QueuedRequestID, content: UInt64, _ owner: QueueOwner) async -> Bool {
        let now = now
        do throws(QueueError) {
            return try await change { ledger, transaction throws(QueueError) -> Bool in
                do throws(Ledger.AttemptRefusal) {
                    try ledger.requireAttempt(id, content: content, by: holder, at: now, in: options.limits)
                } catch {
                    guard case .overdue(let reason) = error else { return false }
                    transaction.usesReserve = true
                    transaction.append(.buried(id, burial(reason, nil, of: id, owner)))
                    return true
                }
                return false
            }
        } catch {
            noteWriteFailure(error)
            return false
        }
    }

    /// Sends a request through the client, with its idempotency key and its owner's account. The innermost middleware records the attempts.
    private func exchange(
        _ id: QueuedRequestID,
        _ content: RequestContent,
        frame: UInt64,
        _ owner: QueueOwner,
        _ created: QueueTime
    ) async throws(APIError) -> (HTTPResponse, [UInt8]) {
        guard let method = HTTPRequest.Method(rawValue: content.method) else { throw APIError(.invalidRequest) }
        var options = CallOptions.idempotencyKey(content.idempotencyKey)
        options.account = owner.account
        // Without an account, the request has no token, even if an account is signed in now.
        if owner.account == nil { options.isAuthorized = false }
        var headers: HTTPFields = [.queuedAt: HTTPDate.text(created.wall / 1_000)]
        // The content type was stored together with the request.
        if let type = content.contentType { headers[.contentType] = type }
        return try await client.send(
            method,
            content.path,
            body: content.body.map { RequestBody($0, contentType: content.contentType ?? "application/octet-stream") },
            headers: headers,
            options: options,
            context: content.context,
            innermost: AttemptMiddleware(
                begin: { try await self.beginAttempt(id, content: frame) },
                end: { error in
                    let settlement = QueueEntry.Settlement(error, isOwnRedirect: self.client.isOwnRedirect(error))
                    if let settlement { try await self.settleAttempt(of: id, content: frame, settlement) }
                }
            )
        )
    }

    /// Records an attempt before its first byte. Throws if the attempt must not begin.
    ///
    /// From this record on, the outcome of the request counts as unknown. The first record of this kind must be synced before a byte leaves
    /// the device. Otherwise, after a loss of power, a request that was sent could count as not sent. The transaction itself decides
    /// whether the record is the first one, because another process may record the outcome of its attempt just before the transaction.
    private func beginAttempt(_ id: QueuedRequestID, content: UInt64) async throws {
        let isFirst: Bool
        do {
            isFirst = try await journal.transact { ledger, transaction in
                let now = now
                try ledger.requireAttempt(id, content: content, by: holder, at: now, in: options.limits)
                transaction.usesReserve = true
                transaction.append(.attempted(id, now))
                return ledger.attempts[id]?.doubtSince == nil
            }
        } catch JournalError.notDurable {
            // The record is in the file, but the request is not sent. After all other errors, nothing was appended.
            try? await settleAttempt(of: id, content: content, .neverSent)
            throw JournalError.notDurable
        }
        do {
            if isFirst { try await journal.sync() }
            // Since the record was written, the device may have slept for longer than the server stores the key.
            let now = now
            if let reason = journal.withState({ $0.overdue(id, at: now, in: options.limits) }) {
                throw Ledger.AttemptRefusal.overdue(reason)
            }
        } catch {
            try? await settleAttempt(of: id, content: content, .neverSent)
            throw error
        }
    }

    /// Records the outcome of an attempt that failed.
    ///
    /// While the attempt was in flight, another process may have made the request a dead letter, and the app may have put it back. The
    /// request then has other content and other attempts, which the outcome doesn't describe. In this case, the method does nothing.
    /// - Parameter content: The frame with the content that the attempt sent.
    private func settleAttempt(of id: QueuedRequestID, content: UInt64, _ settlement: QueueEntry.Settlement) async throws {
        try await change { ledger, transaction throws(QueueError) in
            guard ledger.records[id]?.content == content, ledger.attempts[id] != nil else { return }
            transaction.usesReserve = true
            transaction.append(.settled(id, settlement))
        }
    }

    /// Writes the effect of a failed call to the journal. Reports the failure to the waiting caller or to subscribers.
    /// - Parameters:
    ///   - content: The frame with the content that the call sent.
    ///   - isNewSession: Whether the session changed while the call was in flight. If so, a refusal of the credentials doesn't pause the
    ///     account.
    /// - Returns: The effect on the lane of the request.
    private func settle(
        _ id: QueuedRequestID,
        content: UInt64,
        _ owner: QueueOwner,
        _ error: APIError,
        isNewSession: Bool
    ) async -> Dispatcher.Ending {
        // The attempt could not be recorded, so the request was not sent.
        if let cause = error.underlying, cause is JournalError || cause is QueueError { noteWriteFailure(cause) }
        let verdict = Verdict(error, isOwnRedirect: client.isOwnRedirect(error))
        switch verdict {
        case .delivered:
            return await finish(id, content: content, .delivered(id), outcome: .delivered(nil, []))
        case .refused, .seeOther:
            if let waiter = hub.take(id), waiter.claim() {
                // The caller gets the refusal even if it is canceled during the removal, so no dead letter is stored.
                let ending = await finish(id, content: content, .removed(id))
                waiter.settle(.refused(error), isClaimed: true)
                return ending
            }
            let reason: Burial.Reason = verdict == .refused ? .refused : .unknownOutcome
            return await finish(id, content: content, .buried(id, burial(reason, error, of: id, owner)))
        case .unauthorized:
            report(error, id, wait: nil)
            // The account may have signed in again meanwhile. A request without an account has no session that a sign-in could renew.
            return isNewSession || owner.account == nil ? .backOff(nil) : .pause(.unauthorized)
        case .held(let wait):
            report(error, id, wait: wait)
            return .hold(wait)
        case .transient(let wait):
            let now = now
            if let reason = journal.withState({ $0.overdue(id, at: now, in: options.limits) }), reason != .expired {
                return await finish(id, content: content, .buried(id, burial(reason, error, of: id, owner)))
            }
            report(error, id, wait: wait)
            return .backOff(wait)
        case .stopped:
            switch error.underlying as? Ledger.AttemptRefusal {
            case .gone: return .next
            case .notSender: return .hold(options.lease)
            case .overdue(let reason): return await finish(id, content: content, .buried(id, burial(reason, nil, of: id, owner)))
            case nil: return .backOff(nil)
            }
        }
    }

    /// Appends the entry that ends a request, unless another process or the app has already ended the request or put it back.
    /// - Parameters:
    ///   - content: The frame with the content that was sent. A request that was put back has other content.
    ///   - outcome: The outcome for the caller that waits for the request; `nil` if the method must not resume this caller. The caller gets
    ///     the outcome after the entry is written. So the app can exit as soon as it has a response, and the request is not sent again.
    /// - Returns: `backOff` if the entry can't be written. After the delay of the lane, the queue writes the entry instead of sending the
    ///   request again. If the process ends before, the request is sent again with the same idempotency key, so the server does not perform
    ///   it twice.
    private func finish(
        _ id: QueuedRequestID,
        content: UInt64,
        _ entry: QueueEntry,
        outcome: ChangeHub.Outcome? = nil
    ) async -> Dispatcher.Ending {
        // Takes the caller first, because the hub would otherwise resume the caller without the response when the entry is written.
        let waiter = outcome == nil ? nil : hub.take(id)
        defer { if let outcome { waiter?.settle(outcome) } }
        do {
            try await change { ledger, transaction throws(QueueError) in
                guard let record = ledger.records[id], !record.isBuried, record.content == content else { return }
                transaction.usesReserve = true
                transaction.append(entry)
            }
            return .next
        } catch {
            // If the entry is in the file but not durable, it has already ended the request.
            guard hasContent(id, content) else { return .next }
            noteWriteFailure(error)
            unwritten.withLock { $0[id] = UnwrittenEnd(content: content, entry: entry) }
            return .backOff(nil)
        }
    }

    /// Returns whether a request is pending and still has the content of a frame.
    private func hasContent(_ id: QueuedRequestID, _ content: UInt64) -> Bool {
        journal.withState { ledger in
            ledger.records[id].map { !$0.isBuried && $0.content == content } ?? false
        }
    }

    /// Drops the unwritten ends of requests that another process or the app has ended or changed.
    func dropUnwritten() {
        let ends = unwritten.withLock { $0 }
        for (id, end) in ends where !hasContent(id, end.content) { _ = takeUnwritten(id, content: end.content) }
    }

    /// Removes and returns the entry that ends a request and that could not be written yet.
    /// - Parameter content: The frame with the present content of the request. An entry for other content is dropped.
    /// - Returns: `nil` if there is no such entry, so that the request must be sent.
    private func takeUnwritten(_ id: QueuedRequestID, content: UInt64) -> QueueEntry? {
        guard let end = unwritten.withLock({ $0.removeValue(forKey: id) }), end.content == content else { return nil }
        return end.entry
    }

    /// Reports a failed call to subscribers.
    private func report(_ error: APIError, _ id: QueuedRequestID, wait: Duration?) {
        hub.emit(
            .failed(
                id,
                QueueFailure(
                    kind: error.kind,
                    code: error.code,
                    status: error.status,
                    requestID: error.requestID,
                    retryAfter: wait
                )
            )
        )
    }
}

/// The end of a request that could not be written to the journal.
struct UnwrittenEnd: Sendable {
    /// The frame with the content that was sent.
    var content: UInt64
    /// The entry that ends the request.
    var entry: QueueEntry
}
