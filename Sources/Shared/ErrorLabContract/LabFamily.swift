import ErrorContract

/// A kind of server, such as Stripe, and the error that a client must decode from its error body. The lab can send this body.
///
/// The lab sends a realistic error body for each kind of server, for example in response to `GET /dev/lab/answer?family=stripe`. A test can
/// check a client's decoder with all of these bodies.
///
/// Use a family to test how an app handles the errors of a third-party API, such as a payment provider. The test doesn't need to call this
/// API, because the lab's server contains the bodies.
public struct LabFamily: Hashable, Sendable {
    /// The name, as in `ErrorBodyFamily`.
    public let name: String
    /// The error that the client must decode. If the response has the status 200, the status of this error is the status in the body.
    public let failure: LabFailure

    /// Creates a kind of server.
    /// - Parameters:
    ///   - name: The name, which is also the value of the parameter `family`.
    ///   - status: The status in the body, or the status of the response.
    ///   - kind: The kind of the decoded error.
    ///   - code: The code of the decoded error. If the body contains no code, it is the client's code for the status.
    ///   - wait: The delay in seconds, from the header or the body; `nil` for none.
    ///   - fields: The fields with problems, in order.
    private init(
        _ name: String,
        _ status: Int,
        _ kind: APIError.Kind,
        _ code: String,
        wait: Int? = nil,
        fields: [String] = []
    ) {
        self.name = name
        failure = LabFailure(kind, ErrorCode(code), status: status, retryAfter: wait.map { $0...$0 }, fields: fields)
    }

    /// All kinds of servers whose formats the decoder knows.
    public static let all: [LabFamily] = [
        LabFamily("contract-problem", 429, .rateLimited, "RATE_LIMIT_EXCEEDED", wait: 42),
        LabFamily("standard", 400, .validation, "VALIDATION_INVALID_INPUT", fields: ["email"]),
        LabFamily("flat", 400, .validation, "VALIDATION_ERROR", fields: ["email", "email"]),
        LabFamily("success", 400, .validation, "VALIDATION_ERROR", fields: ["email"]),
        LabFamily("detail", 403, .forbidden, "RESOURCE_FORBIDDEN"),
        LabFamily("problem", 403, .forbidden, "out-of-credit"),
        LabFamily("problem-pointers", 422, .validation, "validation-error", fields: ["age", "profile.color"]),
        LabFamily("aspnet", 400, .validation, "VALIDATION_ERROR", fields: ["Name", "age"]),
        LabFamily("rate-limit-problem", 429, .rateLimited, "QUOTA_EXCEEDED", wait: 3_600),
        LabFamily("cloudflare-problem", 429, .rateLimited, "rate_limited", wait: 30),
        LabFamily("cloudflare-api", 403, .forbidden, "10000"),
        LabFamily("google", 429, .rateLimited, "RATE_LIMIT_EXCEEDED", wait: 4),
        LabFamily("connect", 404, .notFound, "NOT_FOUND"),
        LabFamily("firebase", 400, .badRequest, "EMAIL_EXISTS"),
        LabFamily("stripe", 402, .validation, "card_declined", fields: ["number"]),
        LabFamily("openai", 429, .rateLimited, "insufficient_quota"),
        LabFamily("anthropic", 429, .rateLimited, "rate_limit_error", wait: 13),
        LabFamily("azure", 400, .badRequest, "PasswordReuseNotAllowed"),
        LabFamily("hummingbird", 400, .validation, "VALIDATION_ERROR", fields: ["email"]),
        LabFamily("kratos", 401, .unauthorized, "session_inactive"),
        LabFamily("github", 422, .validation, "VALIDATION_ERROR", fields: ["title", ""]),
        LabFamily("json-api", 422, .validation, "too_short", fields: ["firstName"]),
        LabFamily("graphql", 401, .unauthorized, "UNAUTHENTICATED"),
        LabFamily("django-rest", 400, .validation, "VALIDATION_ERROR", fields: ["amount"]),
        LabFamily("django-throttle", 429, .rateLimited, "RATE_LIMITED", wait: 41),
        LabFamily("fastapi", 422, .validation, "VALIDATION_ERROR", fields: ["email", "limit"]),
        LabFamily("slowapi", 429, .rateLimited, "RATE_LIMITED"),
        LabFamily("laravel", 422, .validation, "VALIDATION_ERROR", fields: ["email", "items.0.name"]),
        LabFamily("laravel-throttle", 429, .rateLimited, "RATE_LIMITED", wait: 58),
        LabFamily("rails", 404, .notFound, "NOT_FOUND"),
        LabFamily("spring-boot", 404, .notFound, "NOT_FOUND"),
        LabFamily("express", 404, .notFound, "NOT_FOUND"),
        LabFamily("fastify", 400, .badRequest, "FST_ERR_VALIDATION"),
        LabFamily("nestjs", 400, .validation, "VALIDATION_ERROR", fields: ["", ""]),
        LabFamily("vapor", 404, .notFound, "NOT_FOUND"),
        LabFamily("supabase", 400, .badRequest, "validation_failed"),
        LabFamily("oauth2", 400, .badRequest, "invalid_grant"),
        LabFamily("aws", 400, .badRequest, "ProvisionedThroughputExceededException"),
        LabFamily("discord", 429, .rateLimited, "RATE_LIMITED", wait: 65),
        LabFamily("slack", 429, .rateLimited, "ratelimited", wait: 30),
        LabFamily("twilio", 429, .rateLimited, "20429"),
        LabFamily("kubernetes", 429, .rateLimited, "TooManyRequests", wait: 1),
        LabFamily("better-auth", 429, .rateLimited, "RATE_LIMITED", wait: 8),
        LabFamily("throttle-text", 429, .rateLimited, "RATE_LIMITED", wait: 900),
        LabFamily("nginx", 503, .server, "SERVER_ERROR_503"),
        LabFamily("haproxy", 503, .server, "SERVER_ERROR_503"),
        LabFamily("cloudflare-page", 522, .server, "CF_522"),
        LabFamily("not-api", 200, .notAPI, "NOT_API_RESPONSE"),
        LabFamily("empty", 500, .server, "SERVER_ERROR_500"),
        LabFamily("error-text", 500, .server, "SERVER_ERROR_500"),
        LabFamily("message-text", 429, .rateLimited, "RATE_LIMITED"),
        LabFamily("other-json", 400, .badRequest, "BAD_REQUEST"),
        LabFamily("unreadable", 500, .server, "SERVER_ERROR_500"),
    ]
}
