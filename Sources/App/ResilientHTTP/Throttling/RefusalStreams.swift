import Synchronization

/// Hands refusals to everyone who listens. Who doesn't keep up loses the oldest.
final class RefusalStreams: Sendable {
    private typealias Listener = AsyncStream<ThrottleRefusal>.Continuation
    private let listeners = Mutex<(next: UInt64, all: [UInt64: Listener])>((0, [:]))

    deinit {
        for listener in listeners.withLock({ $0.all.values }) { listener.finish() }
    }

    var count: Int { listeners.withLock { $0.all.count } }

    func listen(buffering size: Int) -> AsyncStream<ThrottleRefusal> {
        let (stream, listener) = AsyncStream<ThrottleRefusal>.makeStream(bufferingPolicy: .bufferingNewest(size))
        let id = listeners.withLock { listeners in
            listeners.next += 1
            listeners.all[listeners.next] = listener
            return listeners.next
        }
        listener.onTermination = { [weak self] _ in self?.listeners.withLock { $0.all[id] = nil } }
        return stream
    }

    func send(_ refusal: ThrottleRefusal) {
        for listener in listeners.withLock({ Array($0.all.values) }) { listener.yield(refusal) }
    }
}
