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
    private struct State {
        /// The time of the database at which the monotonic time was zero, in seconds since 1970.
        var origin: Double
        /// The latest time that was returned, in seconds since 1970. Later results are never earlier than this time.
        var latest: Double
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
        state = Mutex(State(origin: 0, latest: 0))
        try await synchronize()
    }

    /// A function that returns the current time. Pass it to components that need a clock.
    public var now: @Sendable () -> Date {
        { [self] in
            let elapsed = elapsed
            return state.withLock { state in
                state.latest = max(state.latest, state.origin + elapsed)
                return Date(timeIntervalSince1970: state.latest)
            }
        }
    }

    /// Reads the database's clock. Call it periodically, so that this clock and the database's clock don't drift apart.
    ///
    /// The result differs from the database's clock by at most half of the round trip, because the database reads its clock at an unknown
    /// moment between the request and the response.
    /// - Throws: `StoreFailure`. The time then continues from the previous reading.
    public func synchronize() async throws {
        let before = elapsed
        let time: Double? = try await database.first(
            "SELECT extract(epoch FROM clock_timestamp())::double precision",
            []
        ) { try $0.value(0) }
        guard let time else { return }
        // The database read its clock at an unknown time between the request and the response. The method assumes the middle.
        let middle = (before + elapsed) / 2
        state.withLock { $0.origin = time - middle }
    }

    /// The seconds since the creation of this object, by the monotonic clock.
    private var elapsed: Double { origin.duration(to: .now) / .seconds(1) }
}
