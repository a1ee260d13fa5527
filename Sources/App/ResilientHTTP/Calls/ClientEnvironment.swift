public import Foundation
public import Logging
import RateLimiting
import Synchronization
public import Timekeeping

#if canImport(Network)
    import Dispatch
    import Network
#endif

/// Where a client gets time, chance and a log from. There is no other source of them in the library, so that every wait is
/// tested on a manual clock.
public struct ClientEnvironment: Sendable {
    /// What waits are measured and slept on.
    public var clock: MonotonicClock
    /// The local wall clock, against which dates in answers are measured and which `retryAt` is told in.
    public var wallClock: @Sendable () -> Date
    /// A number from 0 to 1, evenly distributed: the jitter of waits.
    public var chance: @Sendable () -> Double
    /// The device's connection; `nil` if it is not followed.
    public var connectivity: Connectivity?
    /// Where decisions are logged, at debug level and without anything secret; `nil` for nowhere.
    public var logger: Logger?

    /// Creates surroundings; the defaults are the system's.
    public init(
        clock: MonotonicClock = .continuous,
        wallClock: @escaping @Sendable () -> Date = { Date() },
        chance: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        connectivity: Connectivity? = nil,
        logger: Logger? = nil
    ) {
        self.clock = clock
        self.wallClock = wallClock
        self.chance = chance
        self.connectivity = connectivity
        self.logger = logger
    }
}

extension MonotonicClock {
    /// Runs an operation until it ends or an instant comes, whichever is first; the other one is canceled.
    /// - Returns: `nil` if the instant came first.
    func run<Value: Sendable>(
        until instant: Duration,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await sleep(until: instant)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}

/// The state of the device's connection: calls that opted in wait for one, and gates that were closed on another network open early.
///
/// On Apple platforms `system` follows the network path. Elsewhere, and in tests, create one and report changes to it.
///
/// ```swift
/// let connectivity = Connectivity()
/// connectivity.report(isOnline: false)
/// ```
public final class Connectivity: Sendable {
    private struct State {
        var isOnline: Bool
        var changes: UInt64 = 0
        var line = WaiterLine<Void>()
    }

    private let state: Mutex<State>

    /// Creates a value that changes by ``report(isOnline:)``.
    public init(isOnline: Bool = true) {
        state = Mutex(State(isOnline: isOnline))
    }

    /// Whether the device has a connection.
    public var isOnline: Bool { state.withLock(\.isOnline) }

    /// Counts the reported changes of the network path.
    var changes: UInt64 { state.withLock(\.changes) }

    /// Reports a change of the network path: gained, lost or replaced by another one.
    public func report(isOnline: Bool) {
        let wakes = state.withLock { state in
            state.isOnline = isOnline
            state.changes += 1
            return isOnline ? state.line.wakeFirst(.max) : []
        }
        for wake in wakes { wake.resume() }
    }

    /// Waits until the device is online.
    /// - Returns: Whether it is; `false` if the instant came first.
    func waitUntilOnline(until instant: Duration, on clock: MonotonicClock) async throws -> Bool {
        let id = state.withLock { $0.isOnline ? nil : $0.line.enter(()) }
        guard let id else {
            // The connection came back before the call failed, or its path is there and leads nowhere: a moment later it may.
            let next = min(instant, clock.now + .milliseconds(500))
            try await clock.sleep(until: next)
            return next < instant
        }
        defer { state.withLock { _ = $0.line.leave(id) } }
        try await WaiterLine<Void>.wait {
            try await clock.sleep(until: instant)
        } park: { [self] wake in
            state.withLock { $0.line.park(id, wake) }
        } wake: { [self] in
            state.withLock { $0.line.wake(id) }
        }
        try Task.checkCancellation()
        return isOnline
    }
}

#if canImport(Network)
    extension Connectivity {
        /// The connection of this device, followed from its first use on.
        public static let system: Connectivity = {
            let connectivity = Connectivity()
            let monitor = NWPathMonitor()
            // The monitor lives as long as its handler, which the system holds once it is started.
            monitor.pathUpdateHandler = { path in
                _ = monitor
                connectivity.report(isOnline: path.status == .satisfied)
            }
            monitor.start(queue: DispatchQueue(label: "holdfast.connectivity"))
            return connectivity
        }()
    }
#endif
