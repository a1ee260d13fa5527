/// Which email of the queue is the next: of those that are due and of those that are new, in turn, and of the new ones in turn by network.
package struct MailTurns: Sendable {
    /// The network that was last; the next one is behind it in the order of the index.
    package var last = ""
    /// Networks whose intents were returned, the first one first.
    package var returned: ArraySlice<String> = []
    /// Whether the next email is one that is due, if there is one.
    package var isDueFirst = false

    package init() {}

    /// How many new intents are taken of a number in all, if that many are due.
    package func newIntents(of limit: Int, besides due: Int) -> Int {
        limit - min(due, isDueFirst ? (limit + 1) / 2 : limit / 2)
    }

    /// Takes elements of two lists in turn, as long as both have some.
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
