import ErrorContract
import Synchronization

extension GateMiddleware {
    private enum Step {
        case admitted(probed: [Key])
        case refused(Duration)
        case inLine(UInt64)
    }

    /// Lets a call go, at once or when those that are out are answered.
    /// - Returns: The gates that are opening, which it tries for all others.
    /// - Throws: ``APIError`` of the kind `throttled` with the time to wait; `CancellationError` if the task is cancelled in line.
    func admit(_ keys: [Key], context: CallContext) async throws -> [Key] {
        let latest = min(context.now + Self.longestWaitInLine, context.deadline)
        var isNoted = false
        while true {
            let now = context.now
            switch step(keys, at: now, isLate: now >= latest) {
            case .admitted(let probed): return probed
            case .refused(let wait):
                context.record.note(.refusedLocally(.gate, retryAfter: wait))
                throw APIError(heldBackFor: wait, context: context)
            case .inLine(let id):
                defer { state.withLock { $0.line.leave(id) } }
                if !isNoted { context.record.note(.waiting(latest - now, .gate)) }
                isNoted = true
                try await wait(in: id, until: latest, on: context.surroundings.clock)
                try Task.checkCancellation()
            }
        }
    }

    private func step(_ keys: [Key], at now: Duration, isLate: Bool) -> Step {
        state.withLock { state in
            var changed: [(Key, GateState)] = []
            var probed: [Key] = []
            for key in keys {
                guard var gate = state.gates[key] else { continue }
                switch gate.admit(at: now) {
                case .admitted: break
                case .probe: probed.append(key)
                case .closed(let wait): return .refused(wait)
                case .opening:
                    guard !isLate, let id = state.line.enter(at: key) else { return .refused(Self.longestWaitInLine) }
                    return .inLine(id)
                }
                changed.append((key, gate))
            }
            for (key, gate) in changed { state.gates[key] = gate }
            return .admitted(probed: probed)
        }
    }

    /// Waits until woken, or until an instant.
    private func wait(in id: UInt64, until latest: Duration, on clock: MonotonicClock) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await clock.sleep(until: latest) }
            group.addTask { await self.park(id) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func park(_ id: UInt64) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { wake in
                if !state.withLock({ $0.line.park(id, wake) }) { wake.resume() }
            }
        } onCancel: {
            state.withLock { $0.line.wake(id) }?.resume()
        }
    }
}
