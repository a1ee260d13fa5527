import Foundation

/// A store of audit events in memory.
struct InMemoryAudit: AuditStore {
    let stores: InMemoryAccountStores

    func append(_ events: [AuditEvent]) async throws {
        try await stores.perform("audit.append") { state in
            for event in events { state.append(event) }
        }
    }

    func events(of account: Account.ID, limit: Int) async throws -> [AuditEvent] {
        try await stores.perform("audit.events") { state in
            Array(Self.newestFirst(state.events[account] ?? []).prefix(limit))
        }
    }

    func sweep(before: Date, limit: Int) async throws -> Bool {
        try await stores.perform("audit.sweep") { state in
            for (account, events) in state.events {
                var counts: [AuditEvent.Kind: Int] = [:]
                let kept = Self.newestFirst(events).filter { event in
                    counts[event.kind, default: 0] += 1
                    return event.time >= before && counts[event.kind, default: 0] <= limit
                }
                state.events[account] = kept.reversed()
            }
            return false
        }
    }

    /// Sorts events by their times, newest first. If several events have the same time, the last of them comes first.
    private static func newestFirst(_ events: [AuditEvent]) -> [AuditEvent] {
        events.enumerated().sorted { ($0.element.time, $0.offset) > ($1.element.time, $1.offset) }.map(\.element)
    }
}

extension InMemoryState {
    /// Stores an event. If its account doesn't exist, the method does nothing.
    mutating func append(_ event: AuditEvent) {
        guard accounts[event.accountID] != nil else { return }
        events[event.accountID, default: []].append(event)
    }
}
