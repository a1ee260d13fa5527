package import ErrorContract
package import Foundation
package import HTTPTypes
import RateLimiting
package import ResilientHTTP
import Synchronization
import Timekeeping

/// The loops that send requests.
extension OfflineQueue {
    /// Sends stored requests until the task is canceled. Start this method once, for the lifetime of the app or of a scene:
    ///
    /// ```swift
    /// .task { await queue.run() }
    /// ```
    /// The method sends all requests that can be sent, and then sleeps. It wakes after each of these events: a request is stored, the delay
    /// of a lane ends, the network returns, the account changes, or ``Options/watchdog`` has passed.
    ///
    /// Only one process at a time, the sender, sends requests. A process becomes the sender by a lease, which it renews while it sends. In
    /// any other process, the method tries to take over the role when the lease of the present sender ends.
    ///
    /// When the task is canceled, a running ``drain()`` continues until its calls have ended.
    public func run() async {
        while !Task.isCancelled {
            // A stream ends when a task that reads it is canceled, so each sleep needs its own stream. The stream exists before the drain,
            // so that an event during the drain is not lost.
            await hub.withWakeups { wakeups in
                let clock = client.environment.clock
                let stops = dispatcher.withLock(\.stopCount)
                var begin: Duration
                // A drain that is about to end, and that another caller began, might not send what can be sent since then.
                repeat {
                    begin = clock.now
                } while await !beginDrain(after: stops) && !Task.isCancelled && dispatcher.withLock(\.stopCount) == stops
                let instant = min(clock.now + options.watchdog, await resumption(after: begin) ?? .seconds(Int64.max / 2))
                await withTaskGroup { group in
                    group.addTask { for await _ in wakeups { return } }
                    group.addTask { try? await clock.sleep(until: instant) }
                    await group.next()
                    group.cancelAll()
                }
            }
        }
    }

    /// Sends all requests that can be sent now, and returns when no other request can be sent.
    ///
    /// A request stays stored if its lane waits after a failure, if its account is paused, or if its lane stopped at a dead letter. The
    /// method returns at once if another process is the sender, or if the queue ``isRestored``. The method throws no errors; ``events``
    /// reports the failures.
    ///
    /// Only one drain runs at a time. Further callers wait for the running drain. If this drain was stopped before the call, the method
    /// waits for its end, and then runs another drain. If a caller is canceled, the caller returns at once, and the drain continues. To end
    /// the drain, use ``stop()``.
    public nonisolated(nonsending) func drain() async {
        // This step runs on the executor of the caller. So if code on the same actor calls `stop()` after this call, the stop counts as
        // later, and ends this drain.
        let stops = dispatcher.withLock(\.stopCount)
        _ = await beginDrain(after: stops)
    }

    /// Waits for the running drain, or runs a drain. If the running drain was stopped before the call, the method waits for its end, and
    /// then runs another drain.
    /// - Parameter stops: The number of stops that precede the call. A later stop ends the drain, even if it has not begun.
    /// - Returns: `false` if another caller began the drain, or if the task is canceled.
    private func beginDrain(after stops: UInt64) async -> Bool {
        while true {
            let result = try? await flight.run(unless: { .join }) { [self] in
                await drainOnce(after: stops)
                return stops
            }
            guard let result else { return false }
            if result.value >= stops { return !result.isShared }
        }
    }

    /// Ends each drain that was called before, even if it has not begun to send. No further call begins, and the drains return after the
    /// calls in flight have ended. The next ``drain()`` sends requests again, even if the stopped drain has not ended when it is called.
    ///
    /// ``run()`` starts further drains. To prevent them, also cancel the task of ``run()``. Calls of
    /// `send(_:_:_:query:options:context:)` that have begun start no further drain. If its request was not sent, such a call returns
    /// ``QueueResult/queued(_:)``.
    public func stop() { dispatcher.withLock { $0.stop() } }

    /// Ends the delays of all lanes, and the pauses of accounts whose credentials were refused. ``run()`` then sends their requests at
    /// once. Call this method when the app becomes active. The queue itself calls it when the network returns.
    public func wake() {
        dispatcher.withLock { $0.wake() }
        hub.wake()
    }

    /// Gives up the role of the sender, so that another process can send before ``Options/lease`` has passed. Call this method before the
    /// app is suspended, after ``run()`` and ``drain()`` have ended. In a process that is not the sender, the method does nothing. If the
    /// change can't be written, the role ends with its lease. If the task is canceled, the method still writes the change.
    public func resign() async {
        let number = resignCount.add(1, ordering: .acquiringAndReleasing).newValue
        var covered: UInt64?
        // A change that began before this call may have been decided before this process took the role again.
        repeat {
            // A canceled task writes nothing to the journal, and the system cancels a background task before it suspends the app.
            covered = try? await resignation.run(isCancellable: false, unless: { .join }) { [self] in
                let count = resignCount.load(ordering: .acquiring)
                await giveUpRole()
                return count
            }.value
        } while covered.map { $0 < number } ?? false
    }

    /// Gives up the role of the sender, if this process has it. If the change can't be written, the role ends with its lease.
    private func giveUpRole() async {
        let now = now
        _ = try? await change { ledger, transaction throws(QueueError) in
            guard ledger.isSender(holder, at: now) else { return }
            transaction.usesReserve = true
            transaction.append(.leased(holder: holder, now, milliseconds: 0))
        }
    }

    /// An event that a running drain waits for.
    private enum Occasion { case ended, woken, renewal }

    /// Runs one drain. If the drain was stopped before it begins, the method does nothing.
    ///
    /// The task group has one child task for each call. While calls are in flight, it also has two other child tasks: one ends when there
    /// may be a request to send, and one ends when the lease must be renewed. The loop ends when no call is in flight and ``step()``
    /// returns no request.
    /// - Parameter stops: The number of stops that precede the call of the drain.
    private func drainOnce(after stops: UInt64) async {
        let isStopped = dispatcher.withLock { dispatcher in
            dispatcher.beginDrain(after: stops)
            return dispatcher.isStopped
        }
        guard !isStopped else { return }
        dropUnwritten()
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
                        // If another process has become the sender, the calls in flight still continue to their end.
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

    /// Returns the instant at which ``run()`` tries again. This is the end of another process's lease, or the earliest end of the delay of
    /// a lane; `nil` if neither is known.
    /// - Parameter begin: The time at which the last drain began. If the delay of a lane had already ended then, the drain could not send
    ///   the lane's request, for example because the disk failed. Such a lane doesn't count, because ``run()`` would never sleep.
    private func resumption(after begin: Duration) async -> Duration? {
        let clock = client.environment.clock.now
        let now = now
        return journal.withState { ledger in
            if !ledger.isSender(holder, at: now) {
                let wait = ledger.leaseEnd(at: now)
                if wait > 0 { return clock + .milliseconds(wait) }
            }
            return dispatcher.withLock { $0.resumption(in: ledger, after: begin) }
        }
    }

    /// Takes or renews the role of the sender, if there is a request to send. If the drain is stopped, the method only renews the role,
    /// because this process may have given up the role with ``resign()``.
    /// - Returns: Whether this process is the sender. The result is `false` if no request is pending, or if the file can't be written.
    private func takeRole() async -> Bool {
        let now = now
        let lease = options.lease.wholeMilliseconds
        do {
            return try await change { ledger, transaction throws(QueueError) -> Bool in
                // Read under the lock of the journal: a stop and a `resign()` can precede the closure.
                let isStopped = dispatcher.withLock(\.isStopped)
                guard ledger.pendingCount > 0, !isStopped || ledger.isSender(holder, at: now) else { return false }
                guard let entry = try? ledger.leasing(by: holder, at: now, for: lease) else {
                    return ledger.isSender(holder, at: now)
                }
                transaction.usesReserve = true
                transaction.append(entry)
                return true
            }
        } catch {
            noteWriteFailure(error)
            return false
        }
    }

    /// Returns the first failed write to the journal since the last call, and removes it. Such a write kept a drain from sending a request,
    /// or from recording the end of a request. ``events`` don't report it, because ``run()`` tries again later.
    ///
    /// A process that calls ``drain()`` once and then ends, such as a command, uses this method to report why requests are left.
    package func takeWriteFailure() -> QueueError? {
        writeFailure.withLock { failure in
            defer { failure = nil }
            return failure
        }
    }

    /// Stores a failed write for ``takeWriteFailure()``, unless an earlier one is stored.
    func noteWriteFailure(_ error: any Error) {
        let error = QueueError(error)
        writeFailure.withLock { failure in
            if failure == nil { failure = error }
        }
    }
}

/// Callers that wait for the outcome of a request.
extension OfflineQueue {
    /// Sends a call. If the policy of the call permits storing the call, the method sends it through the queue.
    ///
    /// The method returns after the first of three events: the call ends, a drain ends without having sent the request, or the timeout of
    /// the call has passed.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path relative to the client's base URL.
    ///   - query: Items that are appended to the query of the path.
    ///   - body: The body in memory; `nil` for none.
    ///   - options: The options of the call, which may permit storing the call.
    ///   - context: The part of the app that makes the call.
    /// - Returns: The response, or the identifier of the stored request. The response is `nil` if another attempt delivered the request.
    /// - Throws: `APIError`: the refusal of the server, or the reason why the call can't be stored.
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
        // Read before the request is stored, because the app can stop the queue meanwhile.
        let stops = dispatcher.withLock(\.stopCount)
        let waiter = ChangeHub.Waiter()
        let id: QueuedRequestID
        do {
            id = try await store(try await draft(method, path, query, body, options, context), isDurable: false, waiter: waiter)
        } catch {
            // The hub may have the waiter. Another request may get the same identifier, and no caller waits for that request.
            waiter.settle(.later)
            throw APIError(error, context: context)
        }
        let clock = client.environment.clock
        let deadline = clock.now + (policy.timeout ?? client.timeout)
        let outcome = await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                // A drain that is about to end might not send the new request. In this case, drain again.
                repeat { _ = await beginDrain(after: stops) } while canBeSent(id, after: stops) && !Task.isCancelled
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
        hub.remove(waiter, of: id)
        switch outcome {
        case .delivered(let response, let bytes): return .response((response, bytes))
        case .refused(let error): throw error
        case .later: return .queued(id)
        }
    }

    /// Returns whether a drain would send a request now.
    /// - Parameter stops: The number of stops that precede the call that waits for the request. After a later stop, the result is `false`.
    private func canBeSent(_ id: QueuedRequestID, after stops: UInt64) -> Bool {
        let (clock, now) = (client.environment.clock.now, now)
        return journal.withState { ledger in
            guard let record = ledger.records[id], !record.isBuried, ledger.isSender(holder, at: now) else { return false }
            let lane = Int(record.lane)
            return dispatcher.withLock { dispatcher in
                dispatcher.stopCount == stops && dispatcher.width > 0 && !dispatcher.isBusy(lane)
                    && dispatcher.pause(of: ledger.lanes[lane].owner, in: ledger) == nil
                    && dispatcher.resumption(of: lane, at: clock) == nil
                    && !(ledger.lanes[lane].buried > 0 && options.lanePolicies[ledger.lanes[lane].name] == .stopsOnFailure)
            }
        }
    }
}
