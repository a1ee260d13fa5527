import ErrorContract
public import HTTPTypes

/// Adds an `Idempotency-Key` to POST and PATCH requests of endpoints whose policy requires it, so that they may be repeated.
///
/// The key is created once per call, and all attempts of the call send the same one. It is sent as a quoted string
/// (draft-ietf-httpapi-idempotency-key-header). A request that already has a key is not changed. The server must honor the key: it performs
/// a request once, and repeats its response.
///
/// The key is unknown outside the call. If the call ends without a response, and the server may have performed the request in one of the
/// attempts, the call therefore fails with the kind `unknownOutcome`: another call would have another key. A caller that supplies a key can
/// repeat the request safely, and gets the error of the last attempt.
///
/// Place the middleware outside of ``RetryMiddleware``, so that all attempts share the key.
public struct IdempotencyKeyMiddleware: ClientMiddleware {
    private let makeKey: @Sendable () -> String

    /// Creates the middleware.
    /// - Parameter makeKey: Returns a new unique key, of at least 128 random bits so that keys of different devices never collide. The key
    ///   must not contain quotation marks or backslashes.
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
    /// Whether the call ends without a response though the server may have performed the request.
    fileprivate func hidesLostResponse(of context: CallContext) -> Bool {
        status == nil && kind != .cancelled && kind != .decoding && context.record.mayHaveTakenEffect
    }
}
