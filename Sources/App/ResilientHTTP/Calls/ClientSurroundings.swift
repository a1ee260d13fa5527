public import Foundation
public import Logging
public import Timekeeping

/// Where a client gets time, chance and a log from. There is no other source of them in the library, so that every wait is
/// tested on a manual clock.
public struct ClientSurroundings: Sendable {
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
