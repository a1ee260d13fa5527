public import Foundation
public import Logging
import Observability
import Scheduling
public import ServiceLifecycle
import Synchronization

/// Takes note of events without waiting for a disk, and has them kept twice a second: a sign-in that fails takes the same time
/// whether or not there is an account that the failure is noted for. A kill of the process loses at most half a second of them.
public final class AuditTrail<C: Clock>: AuditNoting, Service where C.Duration == Duration {
    /// How many events may wait; more are counted, and told in the log.
    public static var capacity: Int { 10_000 }

    private struct State {
        var events: [AuditEvent] = []
        var lost = 0
    }

    private let state = Mutex(State())
    private let store: any AuditStore
    private let interval: Duration
    private let clock: C
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// Creates a trail.
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

    public func note(_ kind: AuditEvent.Kind, of account: Account.ID, origin: AuditOrigin) {
        let event = AuditEvent(kind: kind, accountID: account, time: now(), origin: origin)
        state.withLock { state in
            if state.events.count < Self.capacity { state.events.append(event) } else { state.lost += 1 }
        }
    }

    /// Has events kept until the group shuts down, those of the last requests too.
    public func run() async throws {
        await PeriodicService(every: interval, order: .pauseFirst, clock: clock) { [self] in await flush() }.run()
    }

    /// Has all that was noted kept.
    public func flush() async {
        let (events, lost) = state.withLock { state in
            defer { state = State() }
            return (state.events, state.lost)
        }
        if lost > 0 { logger.error("Audit events were lost", metadata: ["count": "\(lost)"]) }
        guard !events.isEmpty else { return }
        do {
            try await store.append(events)
            for event in events { logger.info("Account event", metadata: event.metadata) }
        } catch {
            logger.error(
                "Audit events could not be kept",
                metadata: .failure(error, ["count": "\(events.count)"])
            )
            // Behind them come those of meanwhile; what is above the capacity is lost.
            state.withLock { state in
                let room = max(Self.capacity - state.events.count, 0)
                state.events.insert(contentsOf: events.prefix(room), at: 0)
                state.lost += max(events.count - room, 0)
            }
        }
    }
}

extension AuditEvent {
    /// For the log: the account by its id, and the request whose line tells the rest.
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["event": "\(kind.rawValue)", "account.id": "\(accountID)"]
        if let request = origin.requestID { metadata[Logger.requestIDKey] = "\(request)" }
        return metadata
    }
}

/// Takes note of what happens to accounts.
public protocol AuditNoting: Sendable {
    /// Takes note of an event. Waits for nothing.
    func note(_ kind: AuditEvent.Kind, of account: Account.ID, origin: AuditOrigin)
}

extension AuditNoting {
    /// Takes note of an event that the current request brought about.
    public func note(_ kind: AuditEvent.Kind, of account: Account.ID) {
        note(kind, of: account, origin: .current)
    }
}
