package import ErrorContract
package import Foundation
package import HTTPTypes
import RateLimiting
package import ResilientHTTP
import Synchronization
import Timekeeping

/// The loops that send.
extension OfflineQueue {
    /// Sends stored requests until the task is canceled. Start it once, for the lifetime of the app or of a scene:
    ///
    /// ```swift
    /// .task { await queue.run() }
    /// ```
    /// The method drains the queue, and then sleeps until a request is stored, the delay of a lane ends, the network or the account
    /// changes, or ``Options/watchdog`` has passed. In a process that is not the sender, it tries to take the role when the lease of the
    /// sender ends.
    ///
    /// When the task is canceled, a drain that runs continues until its calls have ended.
    public func run() async {
        await hub.withWakeups { wakeups in
            while !Task.isCancelled {
                await drain()
                let clock = client.environment.clock
                let instant = min(clock.now + options.watchdog, await resumption() ?? .seconds(Int64.max / 2))
                await withTaskGroup { group in
                    group.addTask { for await _ in wakeups { return } }
                    group.addTask { try? await clock.sleep(until: instant) }
                    await group.next()
                    group.cancelAll()
                }
            }
        }
    }

    /// Sends all requests that can be sent now, and returns when no further one can be sent.
    ///
    /// Requests stay stored if their lane waits after a failure, if their account is paused, or if their lane stopped at a dead letter. The
    /// method returns at once if another process is the sender, or if the queue ``isRestored``. It throws no errors: ``events`` reports the
    /// failures.
    ///
    /// Only one drain runs at a time: further callers wait for it. If the caller is canceled, it returns at once and the drain continues;
    /// use ``stop()`` to end the drain.
    public func drain() async {
        _ = try? await flight.run(unless: { .join }) { [self] in await drainOnce() }
    }

    /// Ends the running drain as soon as its calls in flight have ended: no further call begins. The next ``drain()`` sends again.
    ///
    /// ``run()`` starts further drains; cancel its task as well if nothing must be sent.
    public func stop() { dispatcher.withLock { $0.isStopped = true } }

    /// Ends the delays of all lanes and the pauses of accounts whose credentials were refused, so that ``run()`` tries them at once. Call
    /// it when the app becomes active. The queue calls it when the network returns.
    public func wake() {
        dispatcher.withLock { $0.wake() }
        hub.wake()
    }

    /// Gives up the role of the sender, so that another process can take it before ``Options/lease`` has passed. Call it before the app is
    /// suspended, after ``run()`` and ``drain()`` have ended. Does nothing in a process that is not the sender. If the entry can't be
    /// written, the lease ends by itself.
    public func resign() async {
        let now = now
        _ = try? await change { ledger, transaction throws(QueueError) in
            guard ledger.isSender(holder, at: now) else { return }
            transaction.usesReserve = true
            transaction.append(.leased(holder: holder, now, milliseconds: 0))
        }
    }

    /// An event that a running drain waits for.
    private enum Occasion { case ended, woken, renewal }

    /// Runs one drain.
    ///
    /// The task group has one child for each call, and two that repeat: one ends when something may have become ready to send, the other
    /// when the lease must be renewed. Both are started only when there is a call to wait for. The loop ends when no call is in flight and
    /// ``step()`` returns nothing to send.
    private func drainOnce() async {
        dispatcher.withLock { $0.isStopped = false }
        await identify()
        await discardSignedOut()
        guard !isRestored, await takeRole() else { return }
        await hub.withWakeups { wakeups in
            await withTaskGroup(of: Occasion.self) { group in
                let clock = client.environment.clock
                let renewal = options.lease / 3
                var (calls, listens) = (0, false)
                while true {
                    while case .send(let id, let lane) = step() {
                        group.addTask {
                            await self.send(id, lane: lane)
                            return .ended
                        }
                        calls += 1
                    }
                    guard calls > 0 else { break }
                    if !listens {
                        group.addTask {
                            for await _ in wakeups { return .woken }; return .woken
                        }
                        group.addTask {
                            try? await clock.sleep(until: clock.now + renewal)
                            return .renewal
                        }
                        listens = true
                    }
                    switch await group.next() {
                    case .ended: calls -= 1
                    case .woken where !Task.isCancelled:
                        group.addTask {
                            for await _ in wakeups { return .woken }; return .woken
                        }
                    case .renewal where !Task.isCancelled:
                        // Another process has the role: the calls in flight end by themselves.
                        _ = await takeRole()
                        group.addTask {
                            try? await clock.sleep(until: clock.now + renewal)
                            return .renewal
                        }
                    default: break
                    }
                }
                group.cancelAll()
            }
        }
    }

    /// Chooses the next request, and marks its lane as busy.
    private func step() -> Dispatcher.Step {
        let now = client.environment.clock.now
        return journal.withState { ledger in
            dispatcher.withLock { $0.next(in: ledger, at: now) { options.lanePolicies[$0] == .stopsOnFailure } }
        }
    }

    /// The instant at which ``run()`` tries again: the end of another process's lease, or the end of the first delay of a lane; `nil` if
    /// neither is known.
    private func resumption() async -> Duration? {
        let clock = client.environment.clock.now
        let now = now
        return journal.withState { ledger in
            if !ledger.isSender(holder, at: now) {
                let wait = ledger.leaseEnd(at: now)
                if wait > 0 { return clock + .milliseconds(wait) }
            }
            return dispatcher.withLock { $0.resumption(in: ledger, at: clock) }
        }
    }

    /// Takes the role of the sender, or renews it, if there is something to send.
    /// - Returns: Whether this process has the role. `false` also if the file can't be written.
    private func takeRole() async -> Bool {
        let now = now
        let lease = options.lease.wholeMilliseconds
        let result = try? await change { ledger, transaction throws(QueueError) -> Bool in
            guard ledger.pendingCount > 0 else { return false }
            guard let entry = try? ledger.leasing(by: holder, at: now, for: lease) else {
                return ledger.isSender(holder, at: now)
            }
            transaction.usesReserve = true
            transaction.append(entry)
            return true
        }
        return result ?? false
    }
}

/// One request at a time.
extension OfflineQueue {
    /// Makes a call for a stored request and notes how it ended.
    private func send(_ id: QueuedRequestID, lane: Int) async {
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
        let content: RequestContent
        do throws(QueueError) {
            content = try self.content(of: id, frame: facts.frame, facts.owner)
        } catch {
            // It was removed or replaced meanwhile, or can't be read now.
            if case .unknownRequest = error { return .backOff(nil) }
            return .hold(options.watchdog)
        }
        do throws(APIError) {
            let (response, bytes) = try await exchange(id, content, frame: facts.frame, facts.owner, facts.created)
            hub.settle(id, .delivered(response, bytes))
            return await finish(id, .delivered(id))
        } catch {
            return await settle(id, facts.owner, error, isNewSession: sessionChanges.load(ordering: .acquiring) != changes)
        }
    }

    /// Sends a request through the client, with its idempotency key and its owner's account. The innermost middleware notes the attempts.
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
        // Without an account the request carries no token, whichever account is signed in now.
        if owner.account == nil { options.isAuthorized = false }
        var headers: HTTPFields = [.queuedAt: HTTPDate.text(created.wall / 1_000)]
        // That of the time when it was stored.
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
                end: { try await self.settleAttempt(of: id, $0) }
            )
        )
    }

    /// Notes an attempt before its first byte, and requires that it may begin.
    ///
    /// A mark that makes the outcome unknown survives a loss of power before a byte leaves the device: otherwise a request that was sent
    /// would count as one that was not. Whether the mark is such a one is decided in its own transaction, because an earlier sender may
    /// settle its attempt just before.
    private func beginAttempt(_ id: QueuedRequestID, content: UInt64) async throws {
        let isFirst = try await journal.transact { ledger, transaction in
            let now = now
            try ledger.requireAttempt(id, content: content, by: holder, at: now, in: options.limits)
            transaction.usesReserve = true
            transaction.append(.attempted(id, now))
            return ledger.attempts[id]?.doubtSince == nil
        }
        do {
            if isFirst { try await journal.sync() }
            // The device may have slept since the mark, for longer than the server keeps the key.
            let now = now
            if let reason = journal.withState({ $0.overdue(id, at: now, in: options.limits) }) {
                throw Ledger.AttemptRefusal.overdue(reason)
            }
        } catch {
            try? await settleAttempt(of: id, .neverSent)
            throw error
        }
    }

    /// Notes the outcome of an attempt that failed.
    private func settleAttempt(of id: QueuedRequestID, _ settlement: QueueEntry.Settlement) async throws {
        try await change { ledger, transaction throws(QueueError) in
            guard ledger.attempts[id] != nil else { return }
            transaction.usesReserve = true
            transaction.append(.settled(id, settlement))
        }
    }

    /// Writes the consequence of a failed call to the journal, and reports it to subscribers or to the caller that waits.
    /// - Parameter isNewSession: Whether the session changed while the call was in flight.
    private func settle(
        _ id: QueuedRequestID,
        _ owner: QueueOwner,
        _ error: APIError,
        isNewSession: Bool
    ) async -> Dispatcher.Ending {
        switch Verdict(error) {
        case .delivered:
            hub.settle(id, .delivered(nil, []))
            return await finish(id, .delivered(id))
        case .refused:
            if let waiter = hub.take(id) {
                // The caller gets the refusal, so that there is no dead letter.
                let ending = await finish(id, .removed(id))
                waiter.settle(.refused(error))
                return ending
            }
            return await finish(id, .buried(id, burial(.refused, error, of: id, owner)))
        case .unauthorized:
            report(error, id, wait: nil)
            // The account may be signed in again by now.
            return isNewSession ? .backOff(nil) : .pause(.unauthorized)
        case .held(let wait):
            report(error, id, wait: wait)
            return .hold(wait)
        case .transient(let wait):
            let now = now
            if let reason = journal.withState({ $0.overdue(id, at: now, in: options.limits) }), reason != .expired {
                return await finish(id, .buried(id, burial(reason, error, of: id, owner)))
            }
            report(error, id, wait: wait)
            return .backOff(wait)
        case .stopped:
            switch error.underlying as? Ledger.AttemptRefusal {
            case .gone: return .next
            case .notSender: return .hold(options.lease)
            case .overdue(let reason): return await finish(id, .buried(id, burial(reason, nil, of: id, owner)))
            case nil: return .backOff(nil)
            }
        }
    }

    /// Appends the entry that ends a request, unless another process or the app has ended it.
    /// - Returns: `backOff` if the entry can't be written: the request is then sent again with the same idempotency key, so that the server
    ///   does not perform it twice.
    private func finish(_ id: QueuedRequestID, _ entry: QueueEntry) async -> Dispatcher.Ending {
        do {
            try await change { ledger, transaction throws(QueueError) in
                guard let record = ledger.records[id], !record.isBuried else { return }
                transaction.usesReserve = true
                transaction.append(entry)
            }
            return .next
        } catch {
            return .backOff(nil)
        }
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

/// Callers that wait for the outcome of a request.
extension OfflineQueue {
    /// Sends a call, through the queue if its policy opts in.
    ///
    /// Three parties may settle the waiter, and the first one wins: the call itself, the end of a drain that did not send the request, and
    /// the timeout of the call.
    /// - Returns: The response, which is `nil` if another attempt delivered the request; or the identifier of the stored request.
    package func deliver(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ query: [URLQueryItem],
        _ body: RequestBody?,
        _ options: CallOptions,
        _ context: String?
    ) async throws(APIError) -> QueueResult<(HTTPResponse?, [UInt8])> {
        let policy = try client.policy(method, APIClient.path(path, with: query), options: options, context: context)
        guard policy.queueing != nil else {
            let (response, bytes) = try await client.send(
                method,
                path,
                query: query,
                body: body,
                options: options,
                context: context
            )
            return .response((response, bytes))
        }
        let waiter = ChangeHub.Waiter()
        let id: QueuedRequestID
        do {
            id = try await store(try await draft(method, path, query, body, options, context), isDurable: false, waiter: waiter)
        } catch {
            throw APIError(error, context: context)
        }
        let clock = client.environment.clock
        let deadline = clock.now + (policy.timeout ?? client.timeout)
        let outcome = await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                // A drain that is about to end may have missed the request.
                repeat { await drain() } while canBeSent(id) && !Task.isCancelled
                if status(of: id) != .sending { waiter.settle(.later) }
            }
            group.addTask {
                try? await clock.sleep(until: deadline)
                waiter.settle(.later)
            }
            let outcome = await waiter.wait()
            group.cancelAll()
            return outcome
        }
        _ = hub.take(id)
        switch outcome {
        case .delivered(let response, let bytes): return .response((response, bytes))
        case .refused(let error): throw error
        case .later: return .queued(id)
        }
    }

    /// Whether a drain would send a request now.
    private func canBeSent(_ id: QueuedRequestID) -> Bool {
        let (clock, now) = (client.environment.clock.now, now)
        return journal.withState { ledger in
            guard let record = ledger.records[id], !record.isBuried, ledger.isSender(holder, at: now) else { return false }
            let lane = Int(record.lane)
            return dispatcher.withLock { dispatcher in
                !dispatcher.isBusy(lane) && dispatcher.pause(of: ledger.lanes[lane].owner, in: ledger) == nil
                    && dispatcher.resumption(of: lane, at: clock) == nil
                    && !(ledger.lanes[lane].buried > 0 && options.lanePolicies[ledger.lanes[lane].name] == .stopsOnFailure)
            }
        }
    }
}
