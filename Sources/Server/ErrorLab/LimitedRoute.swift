import ErrorContract
import ErrorLabContract
import HTTPTypes
import Hummingbird
import RateLimiting
import ServerMiddleware
import Synchronization
import Timekeeping

/// The route of the lab that admits `quota` requests in `window` seconds for each session. The response reports the remaining requests in
/// the fields of draft-ietf-httpapi-ratelimit-headers-10.
///
/// The route uses a sliding window, like the real limits. It stores at most 512 windows. If it removes a window, the session has its full
/// quota again.
final class LimitedRoute<Context: ErrorLabRequestContext>: Sendable {
    /// A key of the table of windows: a session with its quota and window. If a session uses other values of `quota` or `window`, it gets
    /// another window.
    private struct Place: Hashable {
        /// The name of the session, which the client chooses.
        let session: String
        /// The number of requests that a window admits.
        let quota: Int
        /// The length of the window, in seconds.
        let window: Int
    }

    /// The windows by key.
    private let windows = Mutex(BoundedTable<Place, SlidingWindow>(capacity: 512))
    private let renderer: LabResponseRenderer
    private let time: LabTime

    /// Creates a route without windows.
    /// - Parameters:
    ///   - renderer: Renders the response.
    ///   - time: The clock of the windows.
    init(renderer: LabResponseRenderer, time: LabTime) {
        self.renderer = renderer
        self.time = time
    }

    /// Responds with a success or with 429.
    ///
    /// The query has `session`, `quota` (1 to 1,000, 5 by default), `window` in seconds (1 to 3,600, 10 by default) and `form`.
    /// - Throws: ``ContractError`` with all invalid parameters.
    @Sendable func respond(_ request: Request, _ context: Context) async throws -> Response {
        var query = try LabQuery(request)
        let place = Place(
            session: query.session(),
            quota: query.whole("quota", in: 1...1_000, default: 5),
            window: query.whole("window", in: 1...3_600, default: 10)
        )
        let form = query.form()
        try query.finish()
        let policy = RateLimitPolicy.requests(
            place.quota,
            per: .seconds(place.window),
            name: "lab",
            algorithm: .slidingWindow
        )
        let (remaining, reset) = take(place, policy)
        var plain: BufferedResponse
        if let remaining {
            let isAuthorized = request.headers[.authorization] != nil
            let call = place.quota - remaining
            plain = try renderer.success(
                LabSuccess(method: request.method.rawValue, attempt: call, authorized: isAuthorized),
                isWrapped: false
            )
        } else {
            let seconds = reset.wholeSecondsRoundedUp
            plain = try await renderer.error(
                .rateLimitExceeded,
                form: form,
                delay: .seconds(seconds),
                to: request,
                requestID: context.requestID
            )
        }
        if let name = HTTPField.Name(RateLimitFields.policyName) { plain.headers[name] = RateLimitFields.policies([policy]) }
        if let name = HTTPField.Name(RateLimitFields.limitName) {
            plain.headers[name] = RateLimitFields.limit(policy, remaining: remaining ?? 0, reset: reset)
        }
        return plain.response
    }

    /// Counts one request.
    /// - Parameters:
    ///   - place: The key of the window.
    ///   - policy: The policy with the quota and the window of the key.
    /// - Returns: `remaining` is the number of remaining requests; `nil` for a refusal. `reset` is the time until this number grows by one.
    ///   After a refusal, it is the time until the route admits a request.
    private func take(_ place: Place, _ policy: RateLimitPolicy) -> (remaining: Int?, reset: Duration) {
        windows.withLock { table in
            // Read the time under the lock, so that the times of the window never decrease.
            let now = time.elapsed().wholeNanoseconds
            return table.with(place, default: SlidingWindow()) { window in
                guard case .admitted(let remaining) = window.admit(at: now, policy: policy) else {
                    return (nil, window.delay(at: now, policy: policy, of: 1))
                }
                return (remaining, window.delay(at: now, policy: policy, of: remaining + 1))
            }
        }
    }
}

extension SlidingWindow {
    /// Returns the time until the window admits a number of requests at once.
    fileprivate func delay(at now: Int64, policy: RateLimitPolicy, of count: Int) -> Duration {
        var copy = self
        guard case .refused(let delay) = copy.admit(at: now, policy: policy, cost: count) else { return .zero }
        return delay
    }
}
