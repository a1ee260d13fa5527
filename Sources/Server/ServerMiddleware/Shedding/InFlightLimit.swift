import Scheduling
import Synchronization

/// The order in which an overloaded server refuses requests.
public enum RequestPriority: Hashable, Sendable, CaseIterable {
    /// The priority of requests that the server refuses first. At most half of the limit is for deferrable requests, and they wait behind
    /// essential requests.
    case deferrable
    /// The priority of requests that the server refuses last.
    case essential
}

/// Decides which requests the server processes immediately, which wait, and which it refuses. The type has no side effects: callers pass
/// the time and random numbers as arguments.
///
/// At most `limit` requests run at the same time, so there are `limit` places. A free place goes to the first waiting essential request. If
/// no essential request waits, the place goes to the first waiting deferrable request.
///
/// A refused client also gets a position in a queue, the ``VirtualLine`` of the request's priority. The position determines the delay after
/// which the client should return. Up to half of the places for waiting requests are reserved for clients that return after their delay.
struct InFlightLimit<Waiter> {
    /// The decision about a request.
    enum Admission {
        /// The request has a place.
        case start
        /// The request waits. If it stops waiting before it gets a place, the caller passes its id to ``leave(_:of:)``.
        case waiting(id: UInt64, Waiter)
        /// The server refuses the request. The client should return after the delay.
        case refused(Duration)
    }

    /// The requests of one priority.
    private struct Class {
        /// The number of requests that are being processed.
        var running = 0
        var waiting: [(id: UInt64, waiter: Waiter)] = []
        var line = VirtualLine<String?>()
        var rate: ServiceRate
    }

    /// The largest number of requests that are processed at the same time.
    private let limit: Int
    /// The largest number of waiting requests.
    private let maximumWaiting: Int
    /// The essential requests.
    private var essential: Class
    /// The deferrable requests.
    private var deferrable: Class
    /// The id of the last waiting request.
    private var lastID: UInt64 = 0

    /// Creates a limit without requests.
    /// - Parameters:
    ///   - limit: The largest number of requests that are processed at the same time.
    ///   - waiting: The largest number of requests that may wait. Deferrable requests may use half of this number.
    init(_ limit: Int, waiting: Int) {
        (self.limit, maximumWaiting) = (limit, waiting)
        // Until the rate has been measured, assume 100 ms per request.
        let idle = Class(rate: ServiceRate(estimate: Double(limit) * 10))
        (essential, deferrable) = (idle, idle)
    }

    /// The number of requests that are being processed.
    var running: Int { essential.running + deferrable.running }
    /// The number of waiting requests.
    var waiting: Int { essential.waiting.count + deferrable.waiting.count }

    /// Decides whether a request starts, waits or is refused.
    /// - Parameters:
    ///   - priority: The priority of the request.
    ///   - client: The identity of the client for its position in the virtual line; `nil` for an unknown client.
    ///   - now: The current time.
    ///   - chance: Returns a random number from 0 up to 1, which spreads the delays of refused clients.
    ///   - waiter: Creates the value that ``finish(_:isServed:at:claiming:)`` returns when the waiting request gets a place.
    mutating func enter(
        _ priority: RequestPriority,
        from client: () -> String?,
        at now: Duration,
        chance: () -> Double,
        waiter: () -> Waiter
    ) -> Admission {
        let isExpected = !self[priority].line.isEmpty && self[priority].line.claim(by: client(), at: now)
        if hasRoom(for: priority) {
            self[priority].running += 1
            noteLoad(at: now)
            return .start
        }
        let bound = priority == .essential ? maximumWaiting : (maximumWaiting + 1) / 2
        let room = isExpected ? bound : bound - min(bound / 2, self[priority].line.due(at: now))
        guard self[priority].waiting.count < room else {
            return .refused(refuse(priority, from: client(), at: now, chance: chance()))
        }
        lastID += 1
        let waiter = waiter()
        self[priority].waiting.append((lastID, waiter))
        return .waiting(id: lastID, waiter)
    }

    /// Records the end of a request, and gives its place to a waiting request.
    /// - Parameters:
    ///   - priority: The priority of the request.
    ///   - isServed: Whether the client received the requested response. Refusals don't count in the measured rate.
    ///   - now: The current time.
    ///   - claim: Returns whether a request is still waiting. The method calls this closure for each waiter until the closure returns
    ///     `true`. This waiter gets the place.
    /// - Returns: The waiter that has the place now; `nil` if there is none.
    mutating func finish(
        _ priority: RequestPriority,
        isServed: Bool,
        at now: Duration,
        claiming claim: (Waiter) -> Bool
    ) -> Waiter? {
        self[priority].running -= 1
        noteLoad(at: now, served: isServed ? priority : nil)
        for priority in [RequestPriority.essential, .deferrable] {
            while hasRoom(for: priority), !self[priority].waiting.isEmpty {
                let first = self[priority].waiting.removeFirst().waiter
                guard claim(first) else { continue }
                self[priority].running += 1
                noteLoad(at: now)
                return first
            }
        }
        return nil
    }

    /// Removes a request that stopped waiting.
    mutating func leave(_ id: UInt64, of priority: RequestPriority) {
        self[priority].waiting.removeAll { $0.id == id }
    }

    /// Gives a refused client a position in the virtual line, and returns the delay after which the client should return.
    mutating func refuse(_ priority: RequestPriority, from client: String?, at now: Duration, chance: Double) -> Duration {
        let rate = self[priority].rate.perSecond(at: now)
        return self[priority].line.place(for: client, rate: rate, at: now, chance: chance)
    }

    /// Returns whether a request of a priority can start now.
    private func hasRoom(for priority: RequestPriority) -> Bool {
        guard running < limit else { return false }
        return priority == .essential || self[priority].running < max(1, limit / 2)
    }

    /// Updates the measured rate of each priority after the number of running requests has changed.
    /// - Parameter served: The priority of a request that was served; `nil` if no request was served.
    private mutating func noteLoad(at now: Duration, served: RequestPriority? = nil) {
        for priority in RequestPriority.allCases {
            let isBusy = !hasRoom(for: priority)
            self[priority].rate.note(served: priority == served ? 1 : 0, isBusy: isBusy, at: now)
        }
    }

    /// The requests of one priority.
    private subscript(priority: RequestPriority) -> Class {
        get { priority == .essential ? essential : deferrable }
        _modify {
            if priority == .essential { yield &essential } else { yield &deferrable }
        }
    }
}
