import ResilientHTTP

/// The requests that one user may see, at one moment.
package struct QueueSnapshot: Sendable {
    /// The account that is signed in; `nil` if no account is signed in.
    package var account: String?
    /// The first requests that are to be sent, in order.
    package var pending: [QueuedRequest]
    /// The first dead letters, the oldest first.
    package var deadLetters: [QueuedRequest]
    /// The requests in ``pending`` whose lane has stopped at a dead letter. The dead letter may be beyond the limit of ``deadLetters``.
    package var stopped: Set<QueuedRequestID>
    /// The number of requests and dead letters that the user may see.
    package var total: Int
    /// The numbers of requests and dead letters that belong to other accounts or servers, grouped by the reason why the queue doesn't send
    /// them.
    package var others: [QueuePause: Int]
}

extension OfflineQueue {
    /// Returns the requests of the signed-in account and the requests without an account. For other accounts, the snapshot contains only
    /// the number of requests, because several users may share a device.
    /// - Parameter limit: The maximum number of pending requests, and separately of dead letters. Each of them is read from the disk. A
    ///   negative number counts as 0.
    /// - Returns: The snapshot, with the changes of other processes.
    /// - Throws: ``QueueError/locked`` or ``QueueError/storage(_:)`` if the file can't be read.
    package func snapshot(limit: Int = 100) async throws(QueueError) -> QueueSnapshot {
        let limit = max(0, limit)
        let account = try? await client.session?.identity
        let owners =
            [QueueOwner(server: server, account: nil)] + (account.map { [QueueOwner(server: server, account: $0)] } ?? [])
        let (snapshot, pending, buried) = try await change { ledger, _ throws(QueueError) in
            var snapshot = QueueSnapshot(account: account, pending: [], deadLetters: [], stopped: [], total: 0, others: [:])
            for owner in ledger.owners where owner.count > 0 {
                if owners.contains(owner.owner) {
                    snapshot.total += owner.count
                } else {
                    let pause: QueuePause =
                        owner.owner.server != server ? .otherServer : account == nil ? .signedOut : .otherAccount
                    snapshot.others[pause, default: 0] += owner.count
                }
            }
            let isOwn = ledger.owners.map { owners.contains($0.owner) }
            let pending = ledger.lanes.filter { isOwn[$0.owner] }.flatMap { $0.line.all.prefix(limit) }.sorted().prefix(limit)
            for id in pending {
                guard let lane = ledger.records[id].map({ ledger.lanes[Int($0.lane)] }), lane.buried > 0 else { continue }
                if options.lanePolicies[lane.name] == .stopsOnFailure { snapshot.stopped.insert(id) }
            }
            let buried = ledger.buried.keys.filter { id in
                ledger.records[id].map { isOwn[ledger.lanes[Int($0.lane)].owner] } ?? false
            }
            return (snapshot, Array(pending), Array(buried.sorted().prefix(limit)))
        }
        var full = snapshot
        (full.pending, full.deadLetters) = (requests(pending), requests(buried))
        return full
    }
}
