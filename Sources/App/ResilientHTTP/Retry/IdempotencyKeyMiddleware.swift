import ErrorContract
public import HTTPTypes

/// Adds an `Idempotency-Key` to POST and PATCH requests if the policy of the endpoint requires the key. With the key, the client can retry
/// these requests.
///
/// The middleware creates the key once per call, so all attempts of the call send the same key. The header contains the key as a quoted
/// string (draft-ietf-httpapi-idempotency-key-header). If a request already has a key, the middleware doesn't change it. The server must
/// support the key: it must perform the request once, and send the same response to each repetition.
///
/// If an attempt receives no response, the server may still have performed the request. If the last attempt receives no response either,
/// or only a temporary refusal such as 503, the call fails with one of two errors. If the middleware created the key, the error has the
/// kind `unknownOutcome`: the caller doesn't know the key, so the caller can't repeat the request with the same key. If the caller passed
/// its own key, the caller gets the error of the last attempt, and can repeat the request safely.
///
/// Place the middleware outside of ``RetryMiddleware``, so that all attempts share the key.
///
/// ```swift
/// var policies = EndpointPolicies()
/// policies.set(EndpointPolicy(sendsIdempotencyKey: true), for: "/orders", method: .post)
/// ```
public struct IdempotencyKeyMiddleware: ClientMiddleware {
    private let makeKey: @Sendable () -> String

    /// Creates the middleware.
    /// - Parameter makeKey: Returns a new unique key. The key needs at least 128 random bits, so that different devices never create the
    ///   same key. The key must not contain quotation marks or backslashes.
    public init(makeKey: @escaping @Sendable () -> String = { IdempotencyKeyMiddleware.randomKey() }) {
        self.makeKey = makeKey
    }

    /// Passes the request to the next layer. If the policy requires a key and the request has none, adds a key first.
    /// - Parameters:
    ///   - request: The request without its body.
    ///   - body: The body, if there is one.
    ///   - context: The call, whose policy determines whether a key is added.
    ///   - next: Passes the request to the next layer, which makes all attempts.
    /// - Returns: The response of `next`.
    /// - Throws: `APIError` of the kind `unknownOutcome` if the middleware added a key, the last attempt received no response or a
    ///   temporary refusal, and the server may have performed the request in an attempt without a response. Its `underlying` error
    ///   describes the last attempt. Otherwise, the error of `next`.
    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        guard addsKey(to: request, context) else { return try await next(request, body) }
        var request = request
        request.headerFields[.idempotencyKey] = "\"\(makeKey())\""
        do {
            return try await next(request, body)
        } catch let error as APIError where error.hidesLostResponse(of: context) {
            var unknown = APIError(.unknownOutcome, context: error.context, underlying: error.underlying ?? error)
            (unknown.attempts, unknown.hold, unknown.requestID) = (error.attempts, error.hold, error.requestID)
            throw unknown
        }
    }

    /// Returns whether the middleware adds a key to a request. If not, it only passes the request to the next layer.
    func addsKey(to request: HTTPRequest, _ context: CallContext) -> Bool {
        context.policy.sendsIdempotencyKey && (request.method == .post || request.method == .patch)
            && !request.headerFields.contains(.idempotencyKey)
    }

    /// Returns 128 random bits of the system's random number generator as 32 lowercase hexadecimal digits.
    public static func randomKey() -> String {
        var generator = SystemRandomNumberGenerator()
        return [generator.next(), generator.next()].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

extension APIError {
    /// Returns whether the call failed although the server may have performed the request in an attempt without a response.
    ///
    /// A final response is the result of the call. A temporary refusal, such as 429 or 503, is not: a server or a proxy sends it before it
    /// reads the key, so it doesn't show whether an earlier attempt was performed. The caller would repeat the request with another key.
    fileprivate func hidesLostResponse(of context: CallContext) -> Bool {
        guard context.record.mayHaveTakenEffect, kind != .cancelled, kind != .decoding else { return false }
        return status == nil || [.server, .rateLimited, .notAPI].contains(kind) || repeatedRequest == .running
    }
}
