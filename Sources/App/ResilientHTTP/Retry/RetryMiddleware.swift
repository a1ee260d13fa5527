import ErrorContract
public import HTTPTypes
import Timekeeping

/// Repeats failed calls where that is safe and of use.
///
/// Safe are GET, HEAD, OPTIONS, PUT and DELETE, any method with an `Idempotency-Key`, and whatever surely never left. A delay that
/// the server names is waited out in full; one that does not fit the deadline or the policy ends the call at once, with the time
/// in the error. A repeated request carries `X-Retry-Attempt`, and a request that carries it already is passed on once: two
/// clients in a row don't multiply their attempts.
public struct RetryMiddleware: ClientMiddleware {
    /// How often, and after which waits, unless the endpoint's policy says otherwise.
    public var policy: RetryPolicy
    private let budget: RetryBudget

    /// Creates the middleware.
    /// - Parameters:
    ///   - policy: How often, and after which waits.
    ///   - budget: What ends all retries while too many calls fail; shared by all calls of the client.
    public init(_ policy: RetryPolicy = RetryPolicy(), budget: RetryBudget = RetryBudget()) {
        self.policy = policy
        self.budget = budget
    }

    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        guard !request.headerFields.contains(.retryAttempt) else { return try await next(request, body) }
        var request = request
        var retries = 0
        while true {
            let error: APIError
            do {
                let response = try await next(request, body)
                budget.noteSuccess()
                return response
            } catch let thrown {
                error = APIError(thrown, isSafeToRepeat: request.isSafeToRepeat, context: context.name)
            }
            let decision = decide(error, retries: retries, request: request, body: body, context: context)
            guard case .wait(let wait, let reason) = decision else {
                if case .abandon(let why) = decision { context.record.note(.gaveUp(why)) }
                throw error
            }
            do {
                if reason == .connectivity {
                    guard try await waitForConnection(context) else { throw error }
                } else {
                    context.record.note(.waiting(wait, reason))
                    let clock = context.environment.clock
                    try await clock.sleep(until: clock.now + wait)
                }
            } catch let thrown {
                throw APIError(thrown, isSafeToRepeat: request.isSafeToRepeat, context: context.name)
            }
            // A local hold and a missing connection were no attempts.
            guard !error.isHeldLocally, reason != .connectivity else { continue }
            retries += 1
            request.headerFields[.retryAttempt] = "\(retries)"
        }
    }

    /// Waits until the device is online or the call's time is up. Without a monitor of the connection the call tries again every two
    /// seconds.
    /// - Returns: Whether the call may try again.
    private func waitForConnection(_ context: CallContext) async throws -> Bool {
        let clock = context.environment.clock
        guard let monitor = context.environment.connectivity else {
            let wait = min(.seconds(2), context.timeLeft)
            guard wait > .zero else { return false }
            context.record.note(.waiting(wait, .connectivity))
            try await clock.sleep(until: clock.now + wait)
            return context.timeLeft > .zero
        }
        context.record.note(.waiting(context.timeLeft, .connectivity))
        return try await monitor.waitUntilOnline(until: context.deadline, on: clock)
    }

    private func decide(
        _ error: APIError,
        retries: Int,
        request: HTTPRequest,
        body: RequestBody?,
        context: CallContext
    ) -> RetryDecision {
        let attempt = FailedAttempt(
            error: error,
            retries: retries,
            isSafeToRepeat: request.isSafeToRepeat,
            isReplayable: body?.isOneShot != true,
            timeLeft: context.timeLeft,
            waitsInLine: context.policy.waitsInLine,
            waitsForConnectivity: context.policy.waitsForConnectivity
        )
        let decision = (context.policy.retry ?? policy).decide(attempt, chance: context.environment.chance)
        // Counted even if this call is not repeated: the budget watches the server, not the call.
        let isCounted = decision != .abandon(.notRetryable) && error.reachedServer && error.hold == nil && !error.isRefreshFailure
        guard isCounted, !budget.noteFailure(isTimeout: error.kind == .timeout), case .wait = decision else { return decision }
        return .abandon(.budget)
    }
}

extension HTTPRequest {
    /// Whether sending the request twice does no more than sending it once: by RFC 9110 §9.2.2, or by its key.
    public var isSafeToRepeat: Bool {
        switch method {
        case .get, .head, .options, .put, .delete: true
        default: headerFields.contains(.idempotencyKey)
        }
    }
}
