import RateLimiting
import Timekeeping

extension ThrottleTable {
    /// What is known of one user and endpoint: the limit, and those who wait for their turn.
    struct Slot: Sendable {
        var limit: AdaptiveLimit
        var line = ThrottleLine()

        /// What one in line is to do.
        enum Step: Sendable {
            case admitted(Throttler.Call)
            case refused(ThrottleRefusal)
            /// Sleep until an instant, or until woken; only the first has an instant.
            case sleep(until: Int64?)
        }

        /// Decides about a newcomer: it goes, is refused, or enters the line behind the others.
        mutating func enter(
            _ key: ThrottleKey,
            id: UInt64,
            latest: Int64,
            at now: Int64,
            policy: ThrottlePolicy
        ) -> Throttler.Entrance {
            if line.isEmpty, limit.hold(at: now) == nil {
                return .admitted(begin(key, at: now))
            }
            let hold = turns(of: line.count + 1, at: now).last ?? Hold(.line, wait: .zero)
            guard line.count < policy.maximumWaiters, now + hold.wait.wholeNanoseconds <= latest else {
                return .refused(refuse(key, hold, at: now, policy: policy))
            }
            line.enter(id, latest: latest)
            return .inLine(key, id: id, latest: latest)
        }

        /// Decides about one in line. The second value is to be resumed outside the lock.
        mutating func step(
            _ key: ThrottleKey,
            id: UInt64,
            latest: Int64,
            at now: Int64,
            policy: ThrottlePolicy
        ) -> (Step?, ThrottleLine.Wake?) {
            line.isAwake(id)
            guard let place = line.place(of: id) else { return (nil, nil) }
            if place == 0, limit.hold(at: now) == nil {
                return (.admitted(begin(key, at: now)), line.leave(id))
            }
            guard let hold = turns(of: place + 1, at: now).last else { return (nil, line.leave(id)) }
            let turn = now + hold.wait.wholeNanoseconds
            guard turn <= latest else {
                let next = line.leave(id)
                return (.refused(refuse(key, hold, at: now, policy: policy)), next)
            }
            if place == 0 { line.firstTurn = turn }
            return (.sleep(until: place == 0 ? turn : nil), nil)
        }

        /// Wakes those whose case has changed: the first if it may go earlier, and if later, those who then come too late. O(1),
        /// O(waiters) if it is later.
        mutating func wakeChanged(at now: Int64) -> [ThrottleLine.Wake] {
            guard !line.isEmpty else { return [] }
            let turn = now + (limit.hold(at: now)?.wait.wholeNanoseconds ?? 0)
            if turn == line.firstTurn { return [] }
            if turn < line.firstTurn { return line.wakeFirst(andThoseBeyond: [turn]) }
            return line.wakeFirst(andThoseBeyond: turns(of: line.count, at: now).map { now + $0.wait.wholeNanoseconds })
        }

        private func turns(of count: Int, at now: Int64) -> [Hold] { limit.forecast(callers: count, at: now) }

        private mutating func begin(_ key: ThrottleKey, at now: Int64) -> Throttler.Call {
            Throttler.Call(key: key, admitted: limit.begin(at: now))
        }

        private mutating func refuse(_ key: ThrottleKey, _ hold: Hold, at now: Int64, policy: ThrottlePolicy) -> ThrottleRefusal {
            var hold = hold
            // The penalty may make it longer.
            if let penalized = limit.refuse(at: now), penalized.wait > hold.wait { hold = penalized }
            let status = ThrottleStatus(key.endpoint, limit.status(at: now), waiting: line.count)
            return ThrottleRefusal(
                endpoint: key.endpoint,
                hold: hold,
                count: status.count,
                limit: status.limit,
                inARow: limit.refusalsInARow,
                isWorthTelling: limit.refusalsInARow == policy.refusalsWorthTelling
            )
        }
    }
}
