import ErrorContract
import Foundation
public import HTTPTypes
import RateLimiting

/// Lets calls go as a ``Throttler`` allows, and tells it what became of them.
///
/// A call that may not go fails at once with an `APIError` of the kind `throttled` whose `retryAfter` says how long to wait, or
/// waits in line if its turn comes in time. It never waits past its own deadline: if the turn would come later, it fails at once.
public struct ThrottleMiddleware: ClientMiddleware {
    private let throttler: Throttler
    private let longestWait: Duration
    private let user: @Sendable () -> String?

    /// Creates a middleware.
    /// - Parameters:
    ///   - throttler: What decides. Several clients may share one.
    ///   - longestWait: How long a call may wait for its turn; it doesn't wait unless told to.
    ///   - user: Whose quotas a call counts against: a name of the session that stays the same over restarts.
    public init(
        _ throttler: Throttler,
        waitingUpTo longestWait: Duration = .zero,
        user: @escaping @Sendable () -> String? = { nil }
    ) {
        self.throttler = throttler
        self.longestWait = longestWait
        self.user = user
    }

    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        let endpoint = throttler.endpoint(of: request)
        let user = user()
        let now = context.surroundings.wallClock
        let call: Throttler.Call
        do {
            call = try await throttler.admit(endpoint, user: user, waitingUpTo: min(longestWait, context.timeLeft))
        } catch var error as APIError {
            error.context = context.name
            error.retryAt = error.retryAfter.map { now().addingTimeInterval(Double($0.wholeSecondsRoundedUp)) }
            error.hold = error.retryAfter.map { LocalHold(.throttle, wait: $0) }
            context.record.note(.refusedLocally(.throttle, retryAfter: error.retryAfter))
            throw error
        }
        let answer: (HTTPResponse, ResponseBody)
        do {
            answer = try await next(request, body)
        } catch {
            throttler.finish(call, with: CallEnd(error, now: now()))
            throw error
        }
        await throttler.finish(call, with: CallEnd(answer.0, now: now()), savingFor: user)
        return answer
    }
}

extension Throttler {
    /// Takes an answered call back; a wish to wait is kept before anyone may ask again.
    fileprivate func finish(_ call: Call, with end: CallEnd, savingFor user: String?) async {
        finish(call, with: end)
        changed(user)
        // The answer is here: who is cancelled now loses nothing but the save, which the next call makes up for.
        if end.asksToWait { try? await save(user) }
    }
}
