import Synchronization

/// Hears what happens in a client's calls: for a log, metrics, an analytics SDK.
public protocol CallListener: Sendable {
    /// Hears of one event. Called where it happened: return soon.
    func hear(_ event: CallEvent)
}

/// Hands events to a closure.
public struct ClosureListener: CallListener {
    private let body: @Sendable (CallEvent) -> Void

    /// Creates a listener.
    public init(_ body: @escaping @Sendable (CallEvent) -> Void) {
        self.body = body
    }

    public func hear(_ event: CallEvent) { body(event) }
}
