public import CoreMetrics
import ErrorContract
public import OfflineQueue

/// A reporter that counts the events of an offline queue and reports the queue's size, for swift-metrics.
///
/// - `offline_queue_events`: a counter with the label `event` (`queued`, `sending`, `delivered`, `failed`, `dead_lettered` and so on). The
///   label `reason` is the kind of the error of a failed call, or the reason of a dead letter or a pause. For other events, it is `none`.
/// - `offline_queue_pending`, `offline_queue_dead_letters` and `offline_queue_bytes`: gauges of the queue's size after each event.
///
/// No label contains an account, a lane (the name of a sequence of requests in the queue), a path or a request. At most 20 kinds of errors
/// have their own series. The reporter counts further kinds as `other`.
///
/// ```swift
/// let metrics = QueueMetrics(queue)
/// Task { await metrics.run() }
/// ```
public struct QueueMetrics: Sendable {
    /// The largest number of kinds of errors with their own series.
    static let mostKinds = 20

    private let queue: OfflineQueue
    private let events: QueueEvents
    private let factory: any MetricsFactory

    /// Creates a reporter. The reporter counts all later events, also events before the call of ``run()``. Until then, the queue buffers at
    /// most 256 events.
    /// - Parameters:
    ///   - queue: The queue.
    ///   - factory: The factory of counters and gauges. If you use the default factory, bootstrap the metrics system first, because the
    ///     initializer reads the factory.
    public init(_ queue: OfflineQueue, factory: any MetricsFactory = MetricsSystem.factory) {
        (self.queue, self.factory) = (queue, factory)
        events = queue.events
    }

    /// Counts events and reports the size of the queue until the task is canceled. Call this method only once, because a sequence of events
    /// can have only one reader.
    ///
    /// If events arrive faster than the reporter counts them, the queue drops some events. The event `missed` counts the dropped events.
    public func run() async {
        var counters: [Series: Counter] = [:]
        var kinds: Set<String> = []
        let pending = Meter(label: "offline_queue_pending", factory: factory)
        let deadLetters = Meter(label: "offline_queue_dead_letters", factory: factory)
        let bytes = Meter(label: "offline_queue_bytes", factory: factory)
        func reportSize() {
            let counts = queue.counts
            pending.set(counts.pending)
            deadLetters.set(counts.deadLetters)
            bytes.set(counts.bytes)
        }
        reportSize()
        for await event in events {
            var series = Series(event)
            if case .failed = event, !kinds.contains(series.reason) {
                if kinds.count < Self.mostKinds { kinds.insert(series.reason) } else { series.reason = "other" }
            }
            let counter =
                counters[series]
                ?? Counter(
                    label: "offline_queue_events",
                    dimensions: [("event", series.event), ("reason", series.reason)],
                    factory: factory
                )
            counters[series] = counter
            if case .missed(let count) = event { counter.increment(by: count) } else { counter.increment() }
            reportSize()
        }
    }

    /// The labels of an event.
    private struct Series: Hashable {
        var event: String
        var reason = "none"

        init(_ event: QueueEvent) {
            switch event {
            case .queued: self.event = "queued"
            case .edited: self.event = "edited"
            case .sending: self.event = "sending"
            case .delivered: self.event = "delivered"
            case .failed(_, let failure): (self.event, reason) = ("failed", failure.kind.rawValue)
            case .deadLettered(_, let cause): (self.event, reason) = ("dead_lettered", cause.rawValue)
            case .expired: self.event = "expired"
            case .revived: self.event = "revived"
            case .removed: self.event = "removed"
            case .discarded: self.event = "discarded"
            case .paused(_, let pause): (self.event, reason) = ("paused", pause.rawValue)
            case .resumed: self.event = "resumed"
            case .missed: self.event = "missed"
            }
        }
    }
}
