import Foundation

/// A store of audit events in memory.
struct InMemoryAudit: AuditStore {
    let stores: InMemoryAccountStores

    func append(_ events: [AuditEvent]) async throws {
        try await stores.perform("audit.append") { state in
            for event in events where state.accounts[event.accountID] != nil {
                state.events[event.accountID, default: []].append(event)
            }
        }
    }

    func events(of account: Account.ID, limit: Int) async throws -> [AuditEvent] {
        try await stores.perform("audit.events") { state in
            let newest = (state.events[account] ?? []).enumerated().sorted { first, second in
                (first.element.time, first.offset) > (second.element.time, second.offset)
            }
            return newest.prefix(limit).map(\.element)
        }
    }

    func sweep(before: Date, limit: Int) async throws -> Bool {
        try await stores.perform("audit.sweep") { state in
            for (account, events) in state.events {
                var counts: [AuditEvent.Kind: Int] = [:]
                let kept = events.reversed().filter { event in
                    counts[event.kind, default: 0] += 1
                    return event.time >= before && counts[event.kind, default: 0] <= limit
                }
                state.events[account] = kept.reversed()
            }
            return false
        }
    }
}
