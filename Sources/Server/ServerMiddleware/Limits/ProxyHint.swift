import Logging
import Synchronization

/// Tells the operator once that requests seem to come through a proxy that isn't trusted: then all clients behind it are one.
final class ProxyHint: Sendable {
    private let isGiven = Atomic(false)

    func give(if isDue: Bool, _ logger: Logger) {
        guard isDue, !isGiven.load(ordering: .relaxed), !isGiven.exchange(true, ordering: .relaxed) else { return }
        logger.notice("Requests have X-Forwarded-For, but no proxy is trusted: limits count by the connection's address")
    }
}
