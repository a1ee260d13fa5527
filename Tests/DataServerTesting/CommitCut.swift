import Synchronization

/// A filter that cuts the connection of the first `COMMIT`, so that the client gets no response to it. It passes all other bytes unchanged.
///
/// The driver sends the text of a statement only when a connection prepares the statement. So the client's connection must be new. Several
/// connections can share the filter.
package final class CommitCut: ProxyFilter {
    private let reachesServer: Bool
    private let isDone = Atomic(false)

    /// Creates a filter.
    /// - Parameter reachesServer: Whether the server gets the `COMMIT`. If not, it rolls the transaction back.
    package init(reachesServer: Bool) {
        self.reachesServer = reachesServer
    }

    package func fromClient(_ bytes: ArraySlice<UInt8>) -> ProxyOutput {
        // In the protocol, a zero byte ends each text. The text of a `BEGIN` contains `COMMITTED`, which must not match.
        let isCommit = bytes.split(separator: 0).contains { $0.elementsEqual("COMMIT".utf8) }
        guard isCommit, !isDone.exchange(true, ordering: .relaxed) else { return ProxyOutput(toServer: Array(bytes)) }
        return ProxyOutput(toServer: reachesServer ? Array(bytes) : [], isEnd: true)
    }

    package func fromServer(_ bytes: ArraySlice<UInt8>) -> [UInt8] { Array(bytes) }
}
