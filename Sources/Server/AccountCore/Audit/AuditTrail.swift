public import Foundation
public import Logging
import Observability
import Scheduling
public import ServiceLifecycle
import Synchronization

/// Records events of accounts in memory and stores them twice a second.
///
/// Recording does no I/O. A failed sign-in causes an event only if the account exists, so I/O would make the response slower and disclose
/// that the account exists. If the process is killed, the events of the last half second can be lost.
///
/// Services record events through ``AuditNoting``. Run the trail in the service group, so that it stores the last events when the server
/// shuts down. To store events without a delay, for example in a command, call ``AuditStore/append(_:)`` instead.
public final class AuditTrail<C: Clock>: AuditNoting, Service where C.Duration == Duration {
    /// The largest number of pending events. The trail discards further events and logs their number.
    public static var capacity: Int { 10_000 }

    /// The pending events, and the number of events that were discarded because too many were pending.
    private struct State {
        var events: [AuditEvent] = []
        var lost = 0
    }

    /// The pending events.
    private let state = Mutex(State())
    private let store: any AuditStore
    private let interval: Duration
    private let clock: C
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// Creates a trail.
    /// - Parameters:
    ///   - store: The store of the events.
    ///   - interval: The time between two writes. If the process is killed, the events since the last write are lost.
    ///   - clock: The clock of the interval.
    ///   - now: The wall clock.
    ///   - logger: Logs each stored event, and failures.
    public init(
        store: any AuditStore,
        interval: Duration = .milliseconds(500),
        clock: C,
        now: @escaping @Sendable () -> Date,
        logger: Logger
    ) {
        self.store = store
        self.interval = interval
        self.clock = clock
        self.now = now
        self.logger = logger
    }

    /// Records an event with the current time. Takes a lock and does no I/O.
    ///
    /// If ``capacity`` events are pending, the method discards the event and counts it.
    /// - Parameters:
    ///   - kind: The kind of the event.
    ///   - account: The account.
    ///   - origin: The origin of the request.
    public func note(_ kind: AuditEvent.Kind, of account: Account.ID, origin: AuditOrigin) {
        let event = AuditEvent(kind: kind, accountID: account, time: now(), origin: origin)
        state.withLock { state in
            if state.events.count < Self.capacity { state.events.append(event) } else { state.lost += 1 }
        }
    }

    /// Stores the pending events at each interval until the service group shuts down. If the shutdown begins during a pause, the method
    /// stores the events once more.
    public func run() async throws {
        await PeriodicService(every: interval, order: .pauseFirst, clock: clock) { [self] in await flush() }.run()
    }

    /// Stores all pending events in one transaction, and logs them.
    ///
    /// If the store fails, the next call tries to store the events again, together with new events. If more than ``capacity`` events are
    /// then pending, the method discards the newest of the events that it couldn't store.
    public func flush() async {
        let (events, lost) = state.withLock { state in
            defer { state = State() }
            return (state.events, state.lost)
        }
        if lost > 0 { logger.error("Audit events lost", metadata: ["count": "\(lost)"]) }
        guard !events.isEmpty else { return }
        do {
            try await store.append(events)
            for event in events { logger.info("Account event", metadata: event.metadata) }
        } catch {
            logger.error(
                "Audit events not stored",
                metadata: .failure(error, ["count": "\(events.count)"])
            )
            // The events that couldn't be stored come before the events that were recorded meanwhile. Events above the capacity are
            // discarded.
            state.withLock { state in
                let room = max(Self.capacity - state.events.count, 0)
                state.events.insert(contentsOf: events.prefix(room), at: 0)
                state.lost += max(events.count - room, 0)
            }
        }
    }
}

extension AuditEvent {
    /// The metadata for the log: the id of the account and the id of the request. The line with this request id in the access log contains
    /// further details.
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["event": "\(kind.name)", "account.id": "\(accountID)"]
        if let request = origin.requestID { metadata[Logger.requestIDKey] = "\(request)" }
        return metadata
    }
}

/// Records the events of accounts.
public protocol AuditNoting: Sendable {
    /// Records an event without waiting.
    func note(_ kind: AuditEvent.Kind, of account: Account.ID, origin: AuditOrigin)
}

extension AuditNoting {
    /// Records an event of the current request.
    public func note(_ kind: AuditEvent.Kind, of account: Account.ID) {
        note(kind, of: account, origin: .current)
    }
}
