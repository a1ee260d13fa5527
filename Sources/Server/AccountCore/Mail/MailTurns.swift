/// Decides which email of the queue is next. Due and new emails alternate, and the networks of new emails take turns.
///
/// Each process has its own turns, in memory. With several servers, each one takes the networks in turn, so no network is delayed by more
/// than one email per turn and server.
package struct MailTurns: Sendable {
    /// The network of the last email. The next one follows it in the order of the index.
    package var last = ""
    /// Networks whose intents were returned, first one first.
    package var returned: ArraySlice<String> = []
    /// Whether the next email is a due one, if there is any.
    package var isDueFirst = false

    /// Creates turns that begin with the first network.
    package init() {}

    /// Returns how many of `limit` intents are new ones, if `due` intents are due.
    package func newIntents(of limit: Int, besides due: Int) -> Int {
        limit - min(due, isDueFirst ? (limit + 1) / 2 : limit / 2)
    }

    /// Takes elements of two lists alternately, as long as both have elements.
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
}
