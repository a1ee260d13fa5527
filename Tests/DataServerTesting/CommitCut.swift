import Synchronization

/// Filters that cut the connection of the first `COMMIT`, so that the client gets no response to it. They pass all other bytes unchanged.
///
/// The driver sends the text of a statement only when a connection prepares the statement. So the client's connection must be new.
package final class CommitCut: Sendable {
    private let reachesServer: Bool
    private let isDone = Atomic(false)

    /// Creates a cut.
    /// - Parameter reachesServer: Whether the server gets the `COMMIT`. If not, it rolls the transaction back.
    package init(reachesServer: Bool) {
        self.reachesServer = reachesServer
    }

    /// Returns the filter of one connection.
    package func makeFilter() -> any ProxyFilter { Filter(cut: self) }

    private final class Filter: ProxyFilter {
        private let cut: CommitCut
        /// Whether this connection has the `COMMIT`. On a busy machine, the server can respond to it before the proxy cuts the connection.
        private let isCut = Atomic(false)

        init(cut: CommitCut) {
            self.cut = cut
        }

        func fromClient(_ bytes: ArraySlice<UInt8>) -> ProxyOutput {
            // In the protocol, a zero byte ends each text. The text of a `BEGIN` contains `COMMITTED`, which must not match.
            let isCommit = bytes.split(separator: 0).contains { $0.elementsEqual("COMMIT".utf8) }
            guard isCommit, !cut.isDone.exchange(true, ordering: .relaxed) else { return ProxyOutput(toServer: Array(bytes)) }
            isCut.store(true, ordering: .sequentiallyConsistent)
            return ProxyOutput(toServer: cut.reachesServer ? Array(bytes) : [], isEnd: true)
        }

        func fromServer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            isCut.load(ordering: .sequentiallyConsistent) ? [] : Array(bytes)
        }
    }
}
