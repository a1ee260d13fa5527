public import HTTPTypes

/// Names of header fields that this library's servers and clients share.
extension HTTPField.Name {
    /// `X-Error-Code`: the code, which is available even if a proxy replaces the body.
    public static let errorCode = named("X-Error-Code")
    /// `X-Request-Id`: the id of the request in the server's log.
    public static let requestID = named("X-Request-Id")
    /// `Idempotency-Key`: the key by which the server recognizes a repeated request.
    public static let idempotencyKey = named("Idempotency-Key")
    /// `Idempotency-Replayed`: `true` if the server sends a stored response again.
    package static let idempotencyReplayed = named("Idempotency-Replayed")
    /// `X-Retry-Attempt`: the number of the retry, from 1. The first attempt doesn't have the field.
    public static let retryAttempt = named("X-Retry-Attempt")
    /// `X-Queued-At`: the time at which the user made a request, as an HTTP date, if an offline queue sends the request later. A server
    /// must not rely on this time, because the clock of the device can be wrong.
    public static let queuedAt = named("X-Queued-At")
    /// `X-Request-Timeout-Ms`: the remaining time that the client waits, in milliseconds.
    public static let requestTimeout = named("X-Request-Timeout-Ms")
    /// `RateLimit-Policy`: the server's rate limit policies, such as 100 requests per minute.
    public static let rateLimitPolicy = named("RateLimit-Policy")
    /// `RateLimit`: the remaining quota under each policy.
    public static let rateLimit = named("RateLimit")
    /// `Forwarded` (RFC 7239).
    public static let forwarded = named("Forwarded")
    /// `X-Forwarded-For`.
    public static let xForwardedFor = named("X-Forwarded-For")
    /// `traceresponse`: the id of the server's trace for the request.
    package static let traceresponse = named("traceresponse")
    /// `Cache-Status`: how a cache handled a request (RFC 9211).
    package static let cacheStatus = named("Cache-Status")
    /// `Link`: relations to other resources (RFC 8288).
    package static let link = named("Link")
    /// `Last-Event-ID`: the id of the last event that the client received.
    package static let lastEventID = named("Last-Event-ID")
    /// `Sec-Fetch-Site`: whether another site caused a browser's request.
    package static let secFetchSite = named("Sec-Fetch-Site")

    /// Returns the name of a field.
    /// - Precondition: The text is a token (RFC 9110 §5.6.2).
    package static func named(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("\(text) is not a field name") }
        return name
    }
}

/// Names of fields that other servers use.
extension HTTPField.Name {
    /// The request id of Stripe and Anthropic.
    static let plainRequestID = named("request-id")
    /// The id of a request at Cloudflare.
    static let cloudflareRay = named("cf-ray")
    /// The value is `challenge` on a page with which Cloudflare checks the visitor.
    static let cloudflareMitigated = named("cf-mitigated")
    /// The request id of AWS.
    static let amazonRequestID = named("x-amzn-requestid")
    /// The request id of Azure.
    static let microsoftRequestID = named("x-ms-request-id")
    /// The request id of GitHub.
    static let gitHubRequestID = named("x-github-request-id")

    /// The code of an error of Azure Storage.
    static let microsoftErrorCode = named("x-ms-error-code")
    /// The type of an error of AWS, optionally with a namespace and an address.
    static let amazonErrorType = named("x-amzn-errortype")
    /// The code of an error of Supabase.
    static let supabaseErrorCode = named("x-sb-error-code")

    /// The delay in seconds, or a Unix time.
    static let plainRetryAfter = named("X-Retry-After")
    /// The delay in milliseconds, from OpenAI and Azure OpenAI.
    static let retryAfterMilliseconds = named("retry-after-ms")
    /// The delay in milliseconds, from Azure.
    static let microsoftRetryAfterMilliseconds = named("x-ms-retry-after-ms")
    /// The delay in milliseconds, from AWS.
    static let amazonRetryAfter = named("x-amz-retry-after")
    /// The remaining requests, in the early drafts of RateLimit header fields.
    static let rateLimitRemaining = named("RateLimit-Remaining")
    /// The seconds until the reset, in the early drafts.
    static let rateLimitReset = named("RateLimit-Reset")
    /// The remaining requests, as most servers send them.
    static let oldRateLimitRemaining = named("X-RateLimit-Remaining")
    /// The reset time: seconds, a Unix time or a date, depending on the server.
    static let oldRateLimitReset = named("X-RateLimit-Reset")
    /// The delay of a refusal. Symfony sends a Unix time, and MailerLite sends seconds.
    static let rateLimitRetryAfter = named("X-RateLimit-Retry-After")
    /// The seconds until the reset, from Discord for example.
    static let oldRateLimitResetAfter = named("X-RateLimit-Reset-After")
    /// The remaining requests, in another spelling of the name.
    static let dashedRateLimitRemaining = named("X-Rate-Limit-Remaining")
    /// The reset time, in another spelling of the name.
    static let dashedRateLimitReset = named("X-Rate-Limit-Reset")
}
