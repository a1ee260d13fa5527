/// Codes that the client assigns to failures without a code of a server.
extension ErrorCode {
    /// The request or its response was lost on the network.
    public static let networkError = Self("NETWORK_ERROR")
    /// The device has no connection.
    public static let noInternet = Self("NO_INTERNET")
    /// No response was received in time.
    public static let timeout = Self("TIMEOUT")
    /// The caller canceled the call.
    public static let cancelled = Self("CANCELLED")
    /// Status 401 without a code.
    public static let unauthorized = Self("UNAUTHORIZED")
    /// Status 403 without a code.
    public static let forbidden = Self("FORBIDDEN")
    /// Status 400, or another client error, without a code.
    public static let badRequest = Self("BAD_REQUEST")
    /// Status 404 without a code.
    public static let notFound = Self("NOT_FOUND")
    /// Status 409 without a code.
    public static let conflict = Self("CONFLICT")
    /// Field problems without a code.
    public static let validationError = Self("VALIDATION_ERROR")
    /// Status 429 without a code.
    public static let rateLimited = Self("RATE_LIMITED")
    /// The client's own limiter refused the call before it was sent.
    public static let throttled = Self("THROTTLED")
    /// The client's gate or circuit breaker refused the call before it was sent, because the server is failing.
    public static let serviceUnavailableLocally = Self("SERVICE_UNAVAILABLE_LOCALLY")
    /// The response did not have the expected shape.
    public static let decodingError = Self("DECODING_ERROR")
    /// The request was sent and its response was lost. It may have taken effect.
    public static let unknownOutcome = Self("UNKNOWN_OUTCOME")
    /// The response did not come from the API; it was a captive portal's page, for example.
    public static let notAPIResponse = Self("NOT_API_RESPONSE")
    /// The request could not be built.
    public static let invalidRequest = Self("INVALID_REQUEST")
    /// The cause is unknown.
    public static let unknown = Self("UNKNOWN")

    /// Status 5xx without a code.
    /// - Parameter status: The HTTP status, which becomes part of the code.
    public static func serverError(_ status: Int) -> Self {
        Self("SERVER_ERROR_\(status)")
    }
}
