public import ErrorContract

/// `POST /api/auth/register`
public struct RegisterRequest: Codable, Hashable, Sendable {
    /// The address of the account.
    public var email: EmailAddress
    /// The password as it was typed.
    public var password: Password
    /// The name that the person is greeted by.
    public var firstName: FirstName
    /// The language of the account's mails.
    public var locale: Language?

    /// Creates a request.
    public init(email: EmailAddress, password: Password, firstName: FirstName, locale: Language? = nil) {
        self.email = email
        self.password = password
        self.firstName = firstName
        self.locale = locale
    }

    enum CodingKeys: String, CodingKey {
        case email, password, locale
        case firstName = "first_name"
    }
}

/// `POST /api/auth/login`
public struct LoginRequest: Codable, Hashable, Sendable {
    /// The address of the account.
    public var email: EmailAddress
    /// The password as it was typed.
    public var password: Password
    /// The device token of an earlier response to this device, if it has one.
    public var deviceToken: DeviceToken?

    /// Creates a request.
    public init(email: EmailAddress, password: Password, deviceToken: DeviceToken? = nil) {
        self.email = email
        self.password = password
        self.deviceToken = deviceToken
    }

    /// Decodes a request. A string that is no device token counts as none.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        email = try container.decode(EmailAddress.self, forKey: .email)
        password = try container.decode(Password.self, forKey: .password)
        deviceToken = try container.decodeIfPresent(String.self, forKey: .deviceToken).flatMap { try? DeviceToken($0) }
    }

    enum CodingKeys: String, CodingKey {
        case email, password
        case deviceToken = "device_token"
    }
}

/// `POST /api/auth/refresh` and `POST /api/auth/logout`
public struct RefreshRequest: Codable, Hashable, Sendable {
    /// The token that the session is continued with.
    public var refreshToken: RefreshToken

    /// Creates a request.
    public init(refreshToken: RefreshToken) {
        self.refreshToken = refreshToken
    }

    enum CodingKeys: String, CodingKey {
        case refreshToken = "refresh_token"
    }
}

/// `POST /api/request-password-reset/` and `POST /reset_password/`
public struct PasswordResetRequest: Codable, Hashable, Sendable {
    /// The address of the account.
    public var email: EmailAddress

    /// Creates a request.
    public init(email: EmailAddress) {
        self.email = email
    }
}

/// `POST /api/validate-reset-token/`
public struct ValidateResetTokenRequest: Codable, Hashable, Sendable {
    /// The token of the link.
    public var token: ResetToken
    /// If given, the token must belong to this address.
    public var email: EmailAddress?

    /// Creates a request.
    public init(token: ResetToken, email: EmailAddress? = nil) {
        self.token = token
        self.email = email
    }
}

/// `POST /api/confirm-password-reset/`
public struct ConfirmPasswordResetRequest: Codable, Hashable, Sendable {
    /// The token of the link.
    public var token: ResetToken
    /// If given, the token must belong to this address.
    public var email: EmailAddress?
    /// The password to be set.
    public var newPassword: Password

    /// Creates a request.
    public init(token: ResetToken, email: EmailAddress? = nil, newPassword: Password) {
        self.token = token
        self.email = email
        self.newPassword = newPassword
    }

    enum CodingKeys: String, CodingKey {
        case token, email
        case newPassword = "new_password"
    }
}
