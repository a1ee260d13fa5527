import ErrorContract
import Foundation
public import HTTPTypes
import RateLimiting
import Timekeeping

/// Limits the rate of calls. A ``Throttler`` decides when each call may be sent, and the middleware reports the result of each call to the
/// throttler.
///
/// If a call exceeds a quota, the throttler computes the delay after which the quota admits the call. The call waits if this delay is
/// within the permitted waiting time and ends before the deadline of the call. Otherwise, the call fails at once with an `APIError` of the
/// kind `throttled`. The `retryAfter` of this error is the delay.
///
/// ```swift
/// let middleware = ClientPipeline.standard(throttle: ThrottleMiddleware(throttler, waitingUpTo: .seconds(2)))
/// ```
///
/// In the standard order, the middleware runs for each attempt of a call. Each attempt therefore counts against the quotas, as on the
/// server. If the quotas don't have to survive a restart, and no call has to wait, use the parameter `throttle` of `APIClient(baseURL:)` in
/// `HoldfastURLSession` instead.
public struct ThrottleMiddleware: ClientMiddleware {
    /// The throttler, which admits or refuses calls and learns limits from responses.
    private let throttler: Throttler
    private let longestWait: Duration
    private let user: @Sendable () -> String?

    /// Creates a middleware.
    /// - Parameters:
    ///   - throttler: The throttler that decides. Several clients can share a throttler.
    ///   - longestWait: The maximum time that a call waits before it is sent; zero by default.
    ///   - user: Returns the name of the user whose quotas a call uses; `nil` for none. The name must be the same after a restart of the
    ///     app.
    public init(
        _ throttler: Throttler,
        waitingUpTo longestWait: Duration = .zero,
        user: @escaping @Sendable () -> String? = { nil }
    ) {
        self.throttler = throttler
        self.longestWait = longestWait
        self.user = user
    }

    /// Waits until a call may be sent, sends the call, and reports its result to the throttler. If the server refuses the call or requests
    /// a delay, the throttler saves its counts before this method returns, so that the delay survives a restart. The throttler saves any
    /// other result with the next call.
    /// - Parameters:
    ///   - request: The request without its body.
    ///   - body: The body, if there is one.
    ///   - context: The call. Its deadline also limits the wait.
    ///   - next: Passes the request to the next layer.
    /// - Returns: The response of `next`.
    /// - Throws: `APIError` of the kind `throttled` if the throttler refuses the call. Otherwise, the error of `next`.
    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        let endpoint = throttler.endpoint(of: request)
        let user = user()
        let now = context.environment.wallClock
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
        let response: (HTTPResponse, ResponseBody)
        let earlier = context.record.attempts
        do {
            response = try await next(request, body)
        } catch {
            // The next layers also throw an error if the server responds with a refusal, such as a 429.
            let attempts = context.record.attempts - earlier
            let end = CallEnd(error, attempts: attempts, now: now())
            await throttler.finish(call, with: end, hasEarlierRequest: attempts > 1, savingFor: user)
            throw error
        }
        let end: CallEnd = response.1.isFromOtherOrigin ? .responded(limits: []) : CallEnd(response.0, now: now())
        await throttler.finish(call, with: end, savingFor: user)
        return response
    }
}

extension Throttler {
    /// Records the end of a call. If the server refused the call or requested a delay, the throttler saves its counts before this method
    /// returns.
    fileprivate func finish(_ call: Call, with end: CallEnd, hasEarlierRequest: Bool = false, savingFor user: String?) async {
        finish(call, with: end, hasEarlierRequest: hasEarlierRequest)
        changed(user)
        // A canceled task can't save the counts. The call already has its result, so this method ignores the error, and the next call saves
        // the counts.
        if end.asksToWait { try? await save(user) }
    }
}

extension CallEnd {
    /// Creates the end of a call from its response: the delay that the server requests, and the limits that its headers report. The
    /// initializer reads the rate-limit headers of all IETF drafts and of several vendors.
    /// - Parameter now: The time of the local wall clock, for a response without `Date`.
    init(_ response: HTTPResponse, now: Date) {
        let (status, headers) = (response.status.code, response.headerFields)
        // The limits in a response from a cache are outdated (draft-ietf-httpapi-ratelimit-headers-10 §5).
        let isStored = headers[.age].flatMap { Int($0) } ?? 0 > 0
        let limits = isStored ? [] : Self.limits(in: headers, now: now)
        guard status == 429 || status == 403 || status == 503 else {
            self = .responded(limits: limits)
            return
        }
        let retryAfter = RetryAfter.delay(status: status, headers: headers, now: now)
        // A 403 counts as a refusal by a rate limit only if it contains a delay.
        let isRefusal = status == 429 || status == 403 && retryAfter != nil
        self =
            isRefusal
            ? .refused(limits: limits, retryAfter: retryAfter) : .responded(limits: limits, retryAfter: retryAfter)
    }

    /// Creates the end of a failed call from its error, which belongs to the last request. The error shows whether this request may have
    /// reached the server. If so, the throttler counts the call.
    ///
    /// The error of a failed refresh of the session belongs to another endpoint, and the error after a redirect to another origin belongs
    /// to another server. So they show nothing about the limits of this endpoint.
    /// - Parameters:
    ///   - error: The error of the next layers.
    ///   - attempts: The number of requests that the next layers passed to the transport.
    ///   - now: The time of the local wall clock.
    init(_ error: any Error, attempts: Int, now: Date) {
        // Without an attempt, a response with a status also belongs to a refresh.
        if let error = error as? APIError, !error.isAboutEndpoint || attempts == 0 && error.status != nil {
            self = attempts > 0 ? .abandoned : .withdrawn
        } else {
            self.init(error, now: now)
        }
    }

    /// Creates the end of a call from the error of its last request.
    private init(_ error: any Error, now: Date) {
        switch error {
        case let error as APIError where error.status != nil:
            self.init(HTTPResponse(status: .init(code: error.status ?? 0), headerFields: error.headers), now: now)
        case let error as APIError where error.underlying is TransportError || error.underlying is CancellationError:
            self.init(error.underlying ?? error, now: now)
        case is CancellationError: self = .abandoned
        case let error as TransportError:
            switch error.code {
            case .cancelled: self = error.wasSent ? .abandoned : .withdrawn
            case .invalidRequest: self = error.wasSent ? .lost : .withdrawn
            default: self = error.wasSent ? .lost : .unreachable
            }
        case let error as APIError where error.isHeldLocally || error.attempts == 0: self = .withdrawn
        default: self = .abandoned
        }
    }

    /// Whether the server refused the call or requested a delay. The throttler then saves its counts at once, so that the delay survives a
    /// restart.
    var asksToWait: Bool {
        switch self {
        case .refused: true
        case .responded(_, let retryAfter): retryAfter != nil
        case .lost, .unreachable, .withdrawn, .abandoned: false
        }
    }

    /// Returns the limits that the headers of a response report. The method computes times from the `Date` of the response.
    private static func limits(in headers: HTTPFields, now: Date) -> [ServerLimit] {
        var fields: [String: [String]] = [:]
        for field in headers {
            let name = field.name.canonicalName
            guard prefixes.contains(where: { name.hasPrefix($0) }) else { continue }
            fields[name, default: []].append(field.value)
        }
        guard !fields.isEmpty else { return [] }
        let date = headers[.date].flatMap { HTTPDate.parse($0, now: now) } ?? now
        return ServerLimit.decode(now: Int64(date.timeIntervalSince1970)) { fields[$0] ?? [] }
    }

    /// The prefixes of the names of headers that report limits.
    private static let prefixes = ["ratelimit", "x-ratelimit-", "x-rate-limit-", "anthropic-ratelimit-"]
}
