/// Where a throttler's counts survive a restart.
///
/// What was saved last is what counts. A throttler loads a user once, before that user's first call, and saves before each call
/// goes out; it saves one after the other, and shares one save among calls that come together.
public protocol ThrottleStore: Sendable {
    /// What was saved for a user, or `nil` if nothing was.
    /// - Throws: Any error if something was saved and can't be read; the throttler then takes the shortest quota of each of the
    ///   user's endpoints for used up.
    func load(user: String?) async throws -> ThrottleSnapshot?
    /// Keeps a snapshot in place of the earlier one.
    /// - Throws: Any error if it can't be kept; the throttler then logs it and goes on.
    func save(_ snapshot: ThrottleSnapshot, user: String?) async throws
}
