public import Foundation
import PostgresDriver
import Synchronization
import Timekeeping

/// The database's clock, which all its servers share. It is the time of expiry, due times, leases and grace windows.
///
/// The clock is read periodically. In between, the time advances with the machine's monotonic clock. It never runs backwards within one
/// process, even if the database moves to a machine whose clock is behind.
public final class PostgresTime: Sendable {
    private struct State {
        /// The time at which the machine's clock was zero.
        var origin: Double
        var latest: Double
    }

    private let database: PostgresDatabase
    private let origin = ContinuousClock.now
    private let state: Mutex<State>

    /// Reads the database's clock for the first time.
    public init(_ database: PostgresDatabase) async throws {
        self.database = database
        state = Mutex(State(origin: 0, latest: 0))
        try await synchronize()
    }

    /// The current time.
    public var now: @Sendable () -> Date {
        { [self] in
            let elapsed = elapsed
            return state.withLock { state in
                state.latest = max(state.latest, state.origin + elapsed)
                return Date(timeIntervalSince1970: state.latest)
            }
        }
    }

    /// Reads the database's clock.
    public func synchronize() async throws {
        let before = elapsed
        let time: Double? = try await database.first(
            "SELECT extract(epoch FROM clock_timestamp())::double precision",
            []
        ) { try $0.value(0) }
        guard let time else { return }
        // The clock was read at an unknown time in between; half of the round trip is assumed.
        let middle = (before + elapsed) / 2
        state.withLock { $0.origin = time - middle }
    }

    private var elapsed: Double { origin.duration(to: .now) / .seconds(1) }
}
