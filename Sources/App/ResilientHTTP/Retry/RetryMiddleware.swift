import ErrorContract
public import HTTPTypes
import Timekeeping

/// Repeats failed calls if repeating is safe and may succeed.
///
/// Repeating is safe in three cases: for GET, HEAD, OPTIONS, PUT and DELETE; for any method with an `Idempotency-Key`; and if no byte of
/// the request was sent. If a body can be read only once, the middleware never sends it again.
///
/// The middleware waits for the full delay that the server requests, plus a random part. The call fails at once if this wait would end
/// after the deadline, or if the server's delay exceeds ``RetryPolicy/longestWait``. The error then contains the delay. If the server
/// requests no delay, ``RetryPolicy/backoff`` determines the delay.
///
/// A repeated request has the header `X-Retry-Attempt` with the number of the retry. If a request already has this header before its first
/// attempt, the middleware sends the request only once. Therefore, two clients in a chain don't multiply their attempts.
///
/// The policy of an endpoint (``EndpointPolicy/retry``) replaces the policy of the middleware. For operations that are not requests of a
/// client, use ``withRetry(_:timeout:context:environment:isolation:_:)``.
///
/// ```swift
/// let retry = RetryMiddleware(RetryPolicy(maximumRetries: 2))
/// let api = APIClient(baseURL: url, transport: transport, middleware: ClientPipeline.standard(retry: retry))
/// ```
public struct RetryMiddleware: ClientMiddleware {
    /// The number of retries and the delays between them, for endpoints that have no retry policy.
    public var policy: RetryPolicy
    private let budget: RetryBudget

    /// Creates the middleware.
    /// - Parameters:
    ///   - policy: The number of retries and the delays between them.
    ///   - budget: The budget that ends all retries while too many calls fail. All calls of the middleware share the budget. Several
    ///     clients of the same server can also share it.
    public init(_ policy: RetryPolicy = RetryPolicy(), budget: RetryBudget = RetryBudget()) {
        self.policy = policy
        self.budget = budget
    }

    /// Sends a request, and repeats it until it succeeds, or until the policy, the budget or the deadline of the call ends the retries.
    /// - Parameters:
    ///   - request: The request without its body. If it has the header `X-Retry-Attempt`, the middleware sends it only once.
    ///   - body: The body, if there is one.
    ///   - context: The call. Its record gets the delays, and the reason why a failed call is not repeated.
    ///   - next: Makes one attempt.
    /// - Returns: The response of the first attempt that succeeds.
    /// - Throws: `APIError` of the last attempt. If the task is canceled during a delay, the kind is `cancelled`.
    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        guard !request.isRetry else { return try await next(request, body) }
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
            // The failed attempt sent no request, so this iteration doesn't count as a retry.
            guard !error.isHeldLocally, reason != .connectivity else { continue }
            retries += 1
            request.headerFields[.retryAttempt] = "\(retries)"
        }
    }

    /// Waits until the device is online or the call's deadline has passed. If the app doesn't monitor the connectivity, the method waits
    /// for two seconds before the next attempt.
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

    /// Decides whether the call is retried, and counts the failure in the budget.
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
        // The budget counts the failure even if the client doesn't repeat this call, because the budget measures the server and not the
        // call.
        let isCounted = decision != .abandon(.notRetryable) && error.reachedServer && error.hold == nil && !error.isRefreshFailure
        guard isCounted, !budget.noteFailure(isTimeout: error.kind == .timeout), case .wait = decision else { return decision }
        return .abandon(.budget)
    }
}

extension HTTPRequest {
    /// Whether the request repeats an earlier one.
    var isRetry: Bool { headerFields.contains(.retryAttempt) }

    /// Whether sending the request twice has the same effect as sending it once. This is true for some methods (RFC 9110 §9.2.2), and for
    /// any request with an idempotency key.
    public var isSafeToRepeat: Bool {
        switch method {
        case .get, .head, .options, .put, .delete: true
        default: headerFields.contains(.idempotencyKey)
        }
    }
}
