import ResilientHTTP
import Synchronization

/// The accounts whose requests are sent, paused or discarded.
extension OfflineQueue {
    /// Reads which account is signed in, and reports the accounts that are now paused.
    /// - Parameter isNewSession: Whether the session has changed, usually by a sign-in. A change ends the pause of accounts whose
    ///   credentials were refused.
    func identify(isNewSession: Bool = false) async {
        var identity = Dispatcher.Identity(server: server, account: nil)
        do { identity.account = try await client.session?.identity } catch { identity.isKnown = false }
        dispatcher.withLock { $0.identify(identity, isNewSession: isNewSession) }
        announcePauses()
    }

    /// Handles a change of the session, and notifies the loops that send requests. After a sign-out, the method removes the requests of the
    /// account if the options require the removal.
    func noteSession(_ change: SessionChange) async {
        sessionChanges.add(1, ordering: .acquiringAndReleasing)
        if let account = change.signedOut, options.discardsOnSignOut {
            let owner = QueueOwner(server: server, account: account)
            // If the removal fails, the account may sign in again and store requests before the removal is repeated.
            let last = journal.withState { $0.sequence }
            do { try await discard(owner: owner) } catch { signedOut.withLock { $0[owner] = last } }
        }
        await identify(isNewSession: true)
        hub.wake()
    }

    /// Repeats the removals that failed at a sign-out. Requests that the account has stored since the sign-out stay. If a removal fails
    /// again, the next drain tries again.
    func discardSignedOut() async {
        for (owner, last) in signedOut.withLock(\.self) where (try? await discard(owner, storedUpTo: last)) != nil {
            signedOut.withLock { if $0[owner] == last { $0[owner] = nil } }
        }
    }

    /// Removes the requests and dead letters of an account whose present content is in a frame up to a sequence number.
    private func discard(_ owner: QueueOwner, storedUpTo last: UInt64) async throws(QueueError) {
        try await change { ledger, transaction throws(QueueError) in
            transaction.usesReserve = true
            let old = ledger.records.filter { $0.value.content <= last && ledger.owner(of: $0.value) == owner }
            for id in old.keys.sorted() { transaction.append(.removed(id)) }
        }
    }

    /// Reports each pause of an account that has begun, ended or changed its reason since the last call.
    func announcePauses() {
        let pauses = journal.withState { ledger in
            dispatcher.withLock { dispatcher in
                var pauses: [QueueOwner: QueuePause] = [:]
                for (number, owner) in ledger.owners.enumerated() where owner.count > 0 {
                    pauses[owner.owner] = dispatcher.pause(of: number, in: ledger)
                }
                return pauses
            }
        }
        let (paused, resumed) = announced.withLock { announced in
            let paused = pauses.filter { announced[$0.key] != $0.value }
            let resumed = announced.keys.filter { pauses[$0] == nil }
            announced = pauses
            return (paused, resumed)
        }
        for (owner, reason) in paused { hub.emit(.paused(owner, reason)) }
        for owner in resumed { hub.emit(.resumed(owner)) }
    }
}
