/// Codes that the client assigns to errors if the server sent no code.
extension ErrorCode {
    /// The request or its response was lost on the network. The kind is ``APIError/Kind/network``.
    public static let networkError = Self("NETWORK_ERROR")
    /// The device has no connection, so nothing was sent.
    public static let noInternet = Self("NO_INTERNET")
    /// No response was received in time.
    public static let timeout = Self("TIMEOUT")
    /// The caller canceled the call.
    public static let cancelled = Self("CANCELLED")
    /// The response had the status 401 and no code.
    public static let unauthorized = Self("UNAUTHORIZED")
    /// The response had the status 403 and no code.
    public static let forbidden = Self("FORBIDDEN")
    /// The response had no code, and a status 4xx that has no other code here, such as 400.
    public static let badRequest = Self("BAD_REQUEST")
    /// The response had the status 404 or 410 and no code.
    public static let notFound = Self("NOT_FOUND")
    /// The response had the status 409 and no code.
    public static let conflict = Self("CONFLICT")
    /// The response had no code, but reported problems with fields.
    public static let validationError = Self("VALIDATION_ERROR")
    /// The response had the status 429 and no code.
    public static let rateLimited = Self("RATE_LIMITED")
    /// The client refused the call without sending it. The reason is a quota of the app, or a 429 that the server sent shortly before.
    public static let throttled = Self("THROTTLED")
    /// The client refused the call without sending it, because the server is failing. Either the circuit breaker refused the call, or the
    /// gate did, which delays calls after a 503.
    public static let serviceUnavailableLocally = Self("SERVICE_UNAVAILABLE_LOCALLY")
    /// The response did not have the expected shape.
    public static let decodingError = Self("DECODING_ERROR")
    /// The request was sent and its response was lost. The request may have taken effect.
    public static let unknownOutcome = Self("UNKNOWN_OUTCOME")
    /// The response did not come from the API; it was a captive portal's page, for example.
    public static let notAPIResponse = Self("NOT_API_RESPONSE")
    /// The request could not be built.
    public static let invalidRequest = Self("INVALID_REQUEST")
    /// The cause is unknown. For example, an error of the app has no code.
    public static let unknown = Self("UNKNOWN")

    /// Returns the code of a response with a server error and no code.
    /// - Parameter status: The HTTP status, which becomes part of the code, as in `SERVER_ERROR_502`.
    public static func serverError(_ status: Int) -> Self {
        Self("SERVER_ERROR_\(status)")
    }
}
