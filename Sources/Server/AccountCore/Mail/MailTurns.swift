/// Decides which email of the queue a worker claims next. Due emails and new requests alternate. A new request is an email that a client
/// has requested without signing in, such as a reset email, and that no worker has tried to send yet. Among the new requests, the worker
/// takes one request of each network in turn.
///
/// Each process stores its own turns in memory. So with several servers, a network with many requests delays another network by at most one
/// email per turn and server.
package struct MailTurns: Sendable {
    /// The network of the last claimed request. The next request is from the network that follows this network in sorted order.
    package var last = ""
    /// The networks whose intents were claimed and then returned to the queue without being sent. These networks have the next turns.
    package var returned: ArraySlice<String> = []
    /// Whether the next email is a due email, if there is one. Otherwise, a new request comes next.
    package var isDueFirst = false

    /// Creates turns that begin with the first network.
    package init() {}

    /// Returns how many of the next `limit` intents are new requests. `due` is the number of due intents, and enough new requests must be
    /// available.
    package func newIntents(of limit: Int, besides due: Int) -> Int {
        limit - min(due, isDueFirst ? (limit + 1) / 2 : limit / 2)
    }

    /// Returns up to `limit` elements of two lists, alternately. When one list ends, the remaining elements come from the other list.
    package mutating func alternate<Element>(_ due: [Element], _ new: [Element], limit: Int) -> [Element] {
        var (due, new) = (due[...], new[...])
        var chosen: [Element] = []
        while chosen.count < limit {
            let next = isDueFirst ? due.popFirst() ?? new.popFirst() : new.popFirst() ?? due.popFirst()
            isDueFirst.toggle()
            guard let next else { break }
            chosen.append(next)
        }
        return chosen
    }

    /// Applies the changes that a claim has made to a copy of the turns. A network whose intent was returned to the queue during the claim
    /// still has its turn afterward.
    /// - Parameters:
    ///   - after: The copy after the claim.
    ///   - before: The copy before the claim. The claim has only removed networks from the start of ``returned``.
    package mutating func apply(_ after: MailTurns, since before: MailTurns) {
        for network in before.returned.dropLast(after.returned.count) {
            if let index = returned.firstIndex(of: network) { returned.remove(at: index) }
        }
        (last, isDueFirst) = (after.last, after.isDueFirst)
    }
}
