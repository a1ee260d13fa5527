public import Foundation
public import Logging
import RateLimiting
import Synchronization
public import Timekeeping

#if canImport(Network)
    import Dispatch
    import Network
#endif

/// The dependencies of a client: clocks, randomness, connectivity and a logger.
///
/// The client takes the time and the random parts of its delays only from this environment, so a test can run all delays of calls on a
/// manual clock. A ``Throttler`` has its own clock and randomness.
public struct ClientEnvironment: Sendable {
    /// The clock that measures and runs delays.
    public var clock: MonotonicClock
    /// The local wall clock. The client compares the dates in responses with this clock, and computes the `retryAt` of errors from it.
    public var wallClock: @Sendable () -> Date
    /// Returns a uniformly distributed random number from 0 to 1, for the jitter of delays.
    public var chance: @Sendable () -> Double
    /// The device's connectivity; `nil` if the app doesn't monitor it.
    public var connectivity: Connectivity?
    /// The logger for the client's decisions, such as retries; `nil` for no logger. The client logs at debug level, and logs no secrets.
    public var logger: Logger?

    /// Creates an environment. By default, the environment uses the clocks and the randomness of the system, and has no connectivity
    /// monitor and no logger.
    /// - Parameters:
    ///   - clock: The clock that measures and runs delays. A test passes a manual clock.
    ///   - wallClock: Returns the local time. The client compares dates in responses with this time.
    ///   - chance: Returns a random number from 0 to 1. A test passes a constant, so that delays are predictable.
    ///   - connectivity: The device's connectivity; `nil` if the app doesn't monitor it. With `nil`, a call that waits for a connection
    ///     tries again every two seconds.
    ///   - logger: The logger for the client's decisions, at debug level; `nil` for no logger.
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
    /// Runs an operation, and cancels it if it has not ended before the given instant.
    ///
    /// - Returns: `nil` if the instant was reached first.
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

/// The connectivity of the device. Calls with `CallOptions.waitsForConnectivity` wait until the device is online. After a change of the
/// network, the client tests each server that requested a delay, even if the delay has not passed yet. See ``GateMiddleware``.
///
/// On Apple platforms except watchOS, `system` monitors the network path. On other platforms and in tests, create an object and call
/// ``report(isOnline:)`` at each change.
///
/// ```swift
/// let connectivity = Connectivity()
/// connectivity.report(isOnline: false)
/// ```
public final class Connectivity: Sendable {
    /// The state of the connection, the calls that wait for a connection, and the observers. A mutex guards this state.
    private struct State {
        var isOnline: Bool
        var changes: UInt64 = 0
        var line = WaiterLine<Void>()
        var observers = ObserverList<@Sendable (Bool) -> Void>()
    }

    private let state: Mutex<State>

    /// Creates an object whose state changes only when the app calls ``report(isOnline:)``.
    /// - Parameter isOnline: The state until the first report.
    public init(isOnline: Bool = true) {
        state = Mutex(State(isOnline: isOnline))
    }

    /// Whether the device has a connection.
    public var isOnline: Bool { state.withLock(\.isOnline) }

    /// The number of objects that observe the changes, including objects that were released after the last registration.
    var observerCount: Int { state.withLock(\.observers.count) }

    /// The number of calls of ``report(isOnline:)`` so far.
    var changes: UInt64 { state.withLock(\.changes) }

    /// Reports that the network path was gained, lost or replaced by another path.
    ///
    /// Call this method from a monitor of the network path. If the device is online, the calls that wait for a connection continue.
    /// - Parameter isOnline: Whether the device has a connection now.
    public func report(isOnline: Bool) {
        let (wakes, observers) = state.withLock { state in
            state.isOnline = isOnline
            state.changes += 1
            return (isOnline ? state.line.wakeFirst(.max) : [], state.observers.bodies)
        }
        for wake in wakes { wake.resume() }
        for observer in observers { observer(isOnline) }
    }

    /// Registers a closure that runs at each reported change. The second argument of the closure is `true` if the device is online.
    /// - Parameters:
    ///   - object: The object that registers the closure. The closure runs as long as the object exists. A new closure of the same object
    ///     replaces the earlier closure.
    ///   - body: The closure.
    package func onChange<Object: AnyObject & Sendable>(of object: Object, _ body: @escaping @Sendable (Object, Bool) -> Void) {
        state.withLock { state in
            state.observers.add({ [weak object] isOnline in if let object { body(object, isOnline) } }, of: object)
        }
    }

    /// Waits until the device is online. If the connection is lost again before the call can continue, the call waits for the next one.
    ///
    /// - Returns: `false` if the instant was reached before the device was online.
    func waitUntilOnline(until instant: Duration, on clock: MonotonicClock) async throws -> Bool {
        let id = state.withLock { $0.isOnline ? nil : $0.line.enter(()) }
        guard let id else {
            // The device is online, but the call failed without a connection. Either the connection has returned in the meantime, or it
            // doesn't reach the server. A retry may succeed a moment later.
            let next = min(instant, clock.now + .milliseconds(500))
            try await clock.sleep(until: next)
            return next < instant
        }
        defer { state.withLock { _ = $0.line.leave(id) } }
        while true {
            let isOnline = state.withLock { state in
                state.line.noteAwake(id)
                return state.isOnline
            }
            if isOnline { return true }
            guard clock.now < instant else { return false }
            try await WaiterLine<Void>.wait {
                try await clock.sleep(until: instant)
            } park: { [self] wake in
                state.withLock { $0.line.park(id, wake) }
            } wake: { [self] in
                state.withLock { $0.line.wake(id) }
            }
            try Task.checkCancellation()
        }
    }
}

#if canImport(Network)
    extension Connectivity {
        /// The connectivity of this device. Monitoring starts at the first use.
        ///
        /// Don't use the property on watchOS. There, the system reports to every ordinary app that the device is offline, even if
        /// `URLSession` reaches the server (TN3135, "Low-level networking on watchOS").
        @available(watchOS, deprecated: 11, message: "watchOS always reports that the device is offline: use no connectivity")
        public static let system: Connectivity = {
            let connectivity = Connectivity()
            let monitor = NWPathMonitor()
            // The handler retains the monitor. The system retains the handler while the monitor runs.
            monitor.pathUpdateHandler = { path in
                _ = monitor
                connectivity.report(isOnline: path.status == .satisfied)
            }
            // The system calls the handler on this queue.
            monitor.start(queue: DispatchQueue(label: "holdfast.connectivity"))
            return connectivity
        }()
    }
#endif
