import ErrorContract
public import HTTPTypes

/// Adds an `Idempotency-Key` to POST and PATCH requests, so that they may be repeated. The policy of the endpoint must require the key.
///
/// The key is created once per call, and all attempts of the call send it. It is sent as a quoted string
/// (draft-ietf-httpapi-idempotency-key-header). A request that already has a key is not changed. The server must support the key: it
/// performs the request once, and sends the same response to each repetition.
///
/// The caller doesn't know a key that the middleware creates. If all responses are lost, the server may have performed the request, but
/// another call would have another key. The call therefore fails with the kind `unknownOutcome`. A caller with its own key can repeat the
/// request safely, so it gets the error of the last attempt.
///
/// Place the middleware outside of ``RetryMiddleware``, so that all attempts share the key.
public struct IdempotencyKeyMiddleware: ClientMiddleware {
    private let makeKey: @Sendable () -> String

    /// Creates the middleware.
    /// - Parameter makeKey: Returns a new unique key. The key needs at least 128 random bits, so that the keys of different devices never
    ///   collide. It must not contain quotation marks or backslashes.
    public init(makeKey: @escaping @Sendable () -> String = { IdempotencyKeyMiddleware.randomKey() }) {
        self.makeKey = makeKey
    }

    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        guard request.method == .post || request.method == .patch, !request.headerFields.contains(.idempotencyKey),
            context.policy.sendsIdempotencyKey
        else { return try await next(request, body) }
        var request = request
        request.headerFields[.idempotencyKey] = "\"\(makeKey())\""
        do {
            return try await next(request, body)
        } catch let error as APIError where error.hidesLostResponse(of: context) {
            var unknown = APIError(.unknownOutcome, context: error.context, underlying: error.underlying)
            (unknown.attempts, unknown.hold) = (error.attempts, error.hold)
            throw unknown
        }
    }

    /// Returns 128 random bits as 32 hexadecimal digits.
    public static func randomKey() -> String {
        var generator = SystemRandomNumberGenerator()
        return [generator.next(), generator.next()].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

extension APIError {
    /// Whether the call ends without a response although the server may have performed the request.
    fileprivate func hidesLostResponse(of context: CallContext) -> Bool {
        status == nil && kind != .cancelled && kind != .decoding && context.record.mayHaveTakenEffect
    }
}
