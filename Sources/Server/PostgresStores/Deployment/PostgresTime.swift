public import Foundation
import PostgresDriver
import Synchronization
import Timekeeping

/// A clock that follows the clock of the database, so that all servers of the database have the same time. Use it for expiry, due times,
/// leases and grace windows, such as the window in which a client can repeat a refresh.
///
/// If several servers share a database, use this clock instead of the machine's clock. Otherwise, a server whose clock is ahead would end
/// the leases and sessions of other servers too early.
///
/// Call ``synchronize()`` periodically to read the database's clock. In between, the time advances with the machine's monotonic clock. So
/// reading ``now`` does no I/O and only holds a lock for a few instructions. If the database can't be read, the time continues with the
/// machine's clock.
///
/// The time never runs backwards within one process, even if the database moves to a machine whose clock is behind. In this case, the time
/// stops until the new clock has caught up.
public final class PostgresTime: Sendable {
    /// The offset of the database's clock, and the latest returned time.
    struct State {
        /// The time of the database at which the monotonic time was zero, in seconds since 1970; `nil` before the first reading.
        private var origin: Double?
        /// The latest time that was returned, in seconds since 1970. Later results are never earlier than this time.
        private var latest = 0.0

        /// Returns the time of the database, in seconds since 1970.
        /// - Parameter elapsed: The monotonic time in seconds.
        mutating func time(at elapsed: Double) -> Double {
            latest = max(latest, (origin ?? 0) + elapsed)
            return latest
        }

        /// Corrects the offset by a reading of the database's clock.
        ///
        /// The database read its clock at an unknown moment between the request and the response. So the reading only limits the offset to
        /// a range. An offset within this range stays as it is. Otherwise, a slow response would move a correct clock.
        /// - Parameters:
        ///   - time: The time of the database, in seconds since 1970.
        ///   - sent: The monotonic time before the request, in seconds.
        ///   - received: The monotonic time after the response, in seconds.
        mutating func read(_ time: Double, sent: Double, received: Double) {
            let (lowest, highest) = (time - received, time - sent)
            origin = min(max(origin ?? (lowest + highest) / 2, lowest), highest)
        }
    }

    private let database: PostgresDatabase
    /// The time at which this object was created. The monotonic time begins at 0 at this time.
    private let origin = ContinuousClock.now
    /// The state of the clock.
    private let state: Mutex<State>

    /// Reads the database's clock for the first time.
    /// - Throws: `StoreFailure`.
    public init(_ database: PostgresDatabase) async throws {
        self.database = database
        state = Mutex(State())
        try await synchronize()
    }

    /// A function that returns the current time. Pass it to components that need a clock.
    public var now: @Sendable () -> Date {
        { [self] in
            let elapsed = elapsed
            return Date(timeIntervalSince1970: state.withLock { $0.time(at: elapsed) })
        }
    }

    /// Reads the database's clock. Call it periodically, so that this clock and the database's clock don't drift apart.
    ///
    /// After the call, this clock differs from the database's clock by at most the round trip. If the response is slow, for example because
    /// the process or the database was suspended, the call doesn't change a correct clock.
    /// - Throws: `StoreFailure`. The time then continues from the previous reading.
    public func synchronize() async throws {
        let sent = elapsed
        let time: Double? = try await database.first(
            "SELECT extract(epoch FROM clock_timestamp())::double precision",
            []
        ) { try $0.value(0) }
        let received = elapsed
        if let time { state.withLock { $0.read(time, sent: sent, received: received) } }
    }

    /// The seconds since the creation of this object, by the monotonic clock.
    private var elapsed: Double { origin.duration(to: .now) / .seconds(1) }
}
