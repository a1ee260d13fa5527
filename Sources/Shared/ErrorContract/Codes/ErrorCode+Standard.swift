/// The standard codes: 50 of the published catalogue, and the eight that an account server on HTTP adds.
extension ErrorCode {
    /// Invalid email or password provided during login. Status 401.
    public static let authInvalidCredentials = Self("AUTH_INVALID_CREDENTIALS")
    /// Access token has expired and needs refresh. Status 401.
    public static let authTokenExpired = Self("AUTH_TOKEN_EXPIRED")
    /// Token is malformed or invalid. Status 401.
    public static let authTokenInvalid = Self("AUTH_TOKEN_INVALID")
    /// Authorization token not provided in request. Status 401.
    public static let authTokenMissing = Self("AUTH_TOKEN_MISSING")
    /// Session has expired due to inactivity. Status 401.
    public static let authSessionExpired = Self("AUTH_SESSION_EXPIRED")
    /// User account does not exist. Status 404.
    public static let authUserNotFound = Self("AUTH_USER_NOT_FOUND")
    /// User account is inactive or deactivated. Status 403.
    public static let authUserInactive = Self("AUTH_USER_INACTIVE")
    /// User account is suspended. Status 403.
    public static let authUserSuspended = Self("AUTH_USER_SUSPENDED")
    /// Email address already registered. Status 400.
    public static let authEmailExists = Self("AUTH_EMAIL_EXISTS")
    /// Password does not meet requirements. Status 400.
    public static let authWeakPassword = Self("AUTH_WEAK_PASSWORD")
    /// Failed to refresh access token. Status 401.
    public static let authRefreshFailed = Self("AUTH_REFRESH_FAILED")
    /// Device not registered for push notifications. Status 400.
    public static let authDeviceNotRegistered = Self("AUTH_DEVICE_NOT_REGISTERED")
    /// OAuth authentication failed. Status 500.
    public static let authOAuthFailed = Self("AUTH_OAUTH_FAILED")
    /// User cancelled OAuth flow. Status 400.
    public static let authOAuthCancelled = Self("AUTH_OAUTH_CANCELLED")
    /// Reset link is unknown, expired or already used. Status 400.
    public static let authResetTokenInvalid = Self("AUTH_RESET_TOKEN_INVALID")
    /// Input data validation failed. Status 400.
    public static let validationInvalidInput = Self("VALIDATION_INVALID_INPUT")
    /// Required field is missing. Status 400.
    public static let validationMissingField = Self("VALIDATION_MISSING_FIELD")
    /// Email format is invalid. Status 400.
    public static let validationInvalidEmail = Self("VALIDATION_INVALID_EMAIL")
    /// Data format is incorrect. Status 400.
    public static let validationInvalidFormat = Self("VALIDATION_INVALID_FORMAT")
    /// Field exceeds maximum length. Status 400.
    public static let validationFieldTooLong = Self("VALIDATION_FIELD_TOO_LONG")
    /// Field below minimum length. Status 400.
    public static let validationFieldTooShort = Self("VALIDATION_FIELD_TOO_SHORT")
    /// Date format or value is invalid. Status 400.
    public static let validationInvalidDate = Self("VALIDATION_INVALID_DATE")
    /// URL format is invalid. Status 400.
    public static let validationInvalidURL = Self("VALIDATION_INVALID_URL")
    /// Too many requests in short time period. Status 429.
    public static let rateLimitExceeded = Self("RATE_LIMIT_EXCEEDED")
    /// Request rate exceeded. Status 429.
    public static let rateLimitTooManyRequests = Self("RATE_LIMIT_TOO_MANY_REQUESTS")
    /// Daily/monthly quota exceeded. Status 429.
    public static let rateLimitQuotaExceeded = Self("RATE_LIMIT_QUOTA_EXCEEDED")
    /// Too many requests from this device. Status 429.
    public static let rateLimitDeviceLimit = Self("RATE_LIMIT_DEVICE_LIMIT")
    /// API key quota exceeded. Status 429.
    public static let rateLimitAPILimit = Self("RATE_LIMIT_API_LIMIT")
    /// Internal server error occurred. Status 500.
    public static let serverInternalError = Self("SERVER_INTERNAL_ERROR")
    /// Database operation failed. Status 500.
    public static let serverDatabaseError = Self("SERVER_DATABASE_ERROR")
    /// Network communication error. Status 500.
    public static let serverNetworkError = Self("SERVER_NETWORK_ERROR")
    /// Service temporarily unavailable. Status 503.
    public static let serverServiceUnavailable = Self("SERVER_SERVICE_UNAVAILABLE")
    /// Request timed out. Status 504.
    public static let serverTimeout = Self("SERVER_TIMEOUT")
    /// Server under maintenance. Status 503.
    public static let serverMaintenance = Self("SERVER_MAINTENANCE")
    /// Requested resource does not exist. Status 404.
    public static let resourceNotFound = Self("RESOURCE_NOT_FOUND")
    /// Resource already exists. Status 409.
    public static let resourceAlreadyExists = Self("RESOURCE_ALREADY_EXISTS")
    /// Resource has been deleted. Status 410.
    public static let resourceDeleted = Self("RESOURCE_DELETED")
    /// Access to resource is forbidden. Status 403.
    public static let resourceForbidden = Self("RESOURCE_FORBIDDEN")
    /// API key not configured. Status 400.
    public static let apiKeyMissing = Self("API_KEY_MISSING")
    /// API key is invalid or incorrect. Status 401.
    public static let apiKeyInvalid = Self("API_KEY_INVALID")
    /// API key has expired. Status 401.
    public static let apiKeyExpired = Self("API_KEY_EXPIRED")
    /// API key usage quota exceeded. Status 429.
    public static let apiKeyQuotaExceeded = Self("API_KEY_QUOTA_EXCEEDED")
    /// Failed to connect to social media platform. Status 500.
    public static let socialConnectionFailed = Self("SOCIAL_CONNECTION_FAILED")
    /// Social media access token expired. Status 401.
    public static let socialTokenExpired = Self("SOCIAL_TOKEN_EXPIRED")
    /// Failed to publish content to platform. Status 500.
    public static let socialPublishFailed = Self("SOCIAL_PUBLISH_FAILED")
    /// Social media platform returned an error. Status 500.
    public static let socialPlatformError = Self("SOCIAL_PLATFORM_ERROR")
    /// Social media account not connected. Status 400.
    public static let socialNotConnected = Self("SOCIAL_NOT_CONNECTED")
    /// Failed to generate content. Status 500.
    public static let contentGenerationFailed = Self("CONTENT_GENERATION_FAILED")
    /// Content exceeds platform limit. Status 400.
    public static let contentTooLong = Self("CONTENT_TOO_LONG")
    /// Content format is invalid. Status 400.
    public static let contentInvalidFormat = Self("CONTENT_INVALID_FORMAT")
    /// Content failed moderation checks. Status 400.
    public static let contentModerationFailed = Self("CONTENT_MODERATION_FAILED")
    /// Request could not be read. Status 400.
    public static let requestMalformed = Self("REQUEST_MALFORMED")
    /// Method is not offered at this address. Status 405.
    public static let requestMethodNotAllowed = Self("REQUEST_METHOD_NOT_ALLOWED")
    /// Request was sent too slowly. Status 408.
    public static let requestTimeout = Self("REQUEST_TIMEOUT")
    /// Request with this idempotency key is still running. Status 409.
    public static let requestConflict = Self("REQUEST_CONFLICT")
    /// Request body exceeds the limit. Status 413.
    public static let requestTooLarge = Self("REQUEST_TOO_LARGE")
    /// Content type is not supported. Status 415.
    public static let requestUnsupportedMediaType = Self("REQUEST_UNSUPPORTED_MEDIA_TYPE")
    /// Idempotency key was used with another payload. Status 422.
    public static let requestKeyReused = Self("REQUEST_KEY_REUSED")
}
