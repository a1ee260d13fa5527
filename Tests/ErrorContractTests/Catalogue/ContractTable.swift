import ErrorContract

/// The statuses and retry classes of the contract, written independently of the sources.
enum ContractTable {
    /// The codes that are not published, with their statuses.
    static let own: [ErrorCode: Int] = [
        .requestMalformed: 400, .requestMethodNotAllowed: 405, .requestTimeout: 408, .requestConflict: 409,
        .requestTooLarge: 413, .requestUnsupportedMediaType: 415, .requestKeyReused: 422, .authResetTokenInvalid: 400,
        .authEmailNotVerified: 403, .authRegistrationClosed: 403, .authAccountDeleted: 403,
    ]

    /// The retry class of every code.
    static let retryClasses: [(retry: RetryClass, codes: [ErrorCode])] = [
        (.afterRefresh, [.authTokenExpired]),
        (.afterRefreshOrSignIn, [.authTokenInvalid, .authTokenMissing]),
        (.afterSignIn, [.authSessionExpired, .authRefreshFailed]),
        (
            .never,
            [
                .authInvalidCredentials, .authUserNotFound, .authUserInactive, .authUserSuspended, .authEmailExists,
                .authWeakPassword, .authDeviceNotRegistered,
            ]
        ),
        (.never, [.apiKeyInvalid, .apiKeyExpired, .socialTokenExpired, .apiKeyMissing]),
        (.afterDelay, [.rateLimitExceeded, .rateLimitTooManyRequests, .rateLimitDeviceLimit]),
        (.onlyAfterNamedDelay, [.rateLimitQuotaExceeded, .rateLimitAPILimit, .apiKeyQuotaExceeded]),
        (
            .withBackoff,
            [.serverInternalError, .serverDatabaseError, .serverNetworkError, .serverServiceUnavailable, .serverTimeout]
        ),
        (.onlyAfterNamedDelay, [.serverMaintenance]),
        (
            .never,
            [
                .validationInvalidInput, .validationMissingField, .validationInvalidEmail, .validationInvalidFormat,
                .validationFieldTooLong, .validationFieldTooShort, .validationInvalidDate, .validationInvalidURL,
            ]
        ),
        (.never, [.resourceNotFound, .resourceAlreadyExists, .resourceDeleted, .resourceForbidden]),
        (.never, [.contentGenerationFailed, .contentTooLong, .contentInvalidFormat, .contentModerationFailed]),
        (.never, [.socialConnectionFailed, .socialPublishFailed, .socialPlatformError, .socialNotConnected]),
        (.never, [.authOAuthFailed, .authOAuthCancelled, .authResetTokenInvalid]),
        (.never, [.authEmailNotVerified, .authRegistrationClosed, .authAccountDeleted]),
        (.withBackoff, [.requestTimeout, .requestConflict]),
        (
            .never,
            [
                .requestMalformed, .requestMethodNotAllowed, .requestTooLarge, .requestUnsupportedMediaType, .requestKeyReused,
            ]
        ),
    ]
}
