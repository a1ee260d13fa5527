public import ErrorContract
public import Foundation

extension AccountPath {
    /// Creates the account after a blind registration. With blind registration, the response doesn't reveal whether the address has an
    /// account, and a link in an email creates the account.
    public static let activate = "/api/auth/activate"
    /// Requests an email with a link that verifies an address.
    public static let requestVerification = "/api/auth/verify-email/request"
    /// Verifies an address by a link.
    public static let verifyEmail = "/api/auth/verify-email"
    /// Sets a new password for the signed-in account.
    public static let changePassword = "/api/auth/change-password"
    /// Requests an email with a link that changes the address.
    public static let changeEmail = "/api/auth/change-email"
    /// Changes the address by a link.
    public static let confirmEmail = "/api/auth/change-email/confirm"
    /// Restores the former address by a link.
    public static let undoEmail = "/api/auth/change-email/undo"
    /// The sessions of the account. Append a slash and an id for a single session.
    public static let sessions = "/api/auth/sessions"
    /// Deletes the account.
    public static let deleteAccount = "/api/auth/delete-account"
    /// Restores a deleted account by a link.
    public static let keepAccount = "/api/auth/delete-account/undo"
    /// Returns all data that the server stores about the account.
    public static let export = "/api/auth/export"
    /// Returns the path of the page that an emailed link opens.
    package static func page(_ purpose: AccountLink.Purpose) -> String { "/" + purpose.page }
    /// The target of the form that sets a new password and thereby verifies an address.
    package static let verifyPasswordPage = page(.verifyEmail) + "/password"
}

/// The names of header fields in account requests.
public enum AccountHeader {
    /// The name of the device in the list of sessions.
    public static let deviceName = "X-Device-Name"
}

/// The body of `POST /api/auth/activate`, which creates the account of a blind registration.
public struct ActivateRequest: Codable, Hashable, Sendable {
    /// The token of the link.
    public var token: ResetToken
    /// The password of the new account.
    public var password: Password

    /// Creates a request.
    /// - Parameters:
    ///   - token: The token of the link in the email about the registration. The token is valid once.
    ///   - password: The password of the new account. The server's policy validates its strength.
    public init(token: ResetToken, password: Password) {
        self.token = token
        self.password = password
    }
}

/// The body of `POST /api/auth/verify-email/request`, which requests an email with a link that verifies an address.
public struct VerificationRequest: Codable, Hashable, Sendable {
    /// The address to verify; `nil` for the address of the signed-in account.
    public var email: EmailAddress?

    /// Creates a request.
    /// - Parameter email: The address to verify. Pass `nil` only if the request has an access token. The server then uses the address of
    ///   the signed-in account.
    public init(email: EmailAddress? = nil) {
        self.email = email
    }
}

/// The body of `POST /api/auth/verify-email` and of `POST /api/auth/change-email/confirm`, which verify or change an address.
///
/// The request needs the session of the account as `Authorization: Bearer`, or the current password. Otherwise, anyone who can read the
/// email could change the account.
public struct ConfirmLinkRequest: Codable, Hashable, Sendable {
    /// The token of the link.
    public var token: ResetToken
    /// The current password of the account; `nil` if the request has an access token.
    public var currentPassword: Password?

    /// Creates a request.
    /// - Parameters:
    ///   - token: The token of the link.
    ///   - currentPassword: The current password of the account; `nil` if the request has an access token.
    public init(token: ResetToken, currentPassword: Password? = nil) {
        self.token = token
        self.currentPassword = currentPassword
    }

    enum CodingKeys: String, CodingKey {
        case token
        case currentPassword = "current_password"
    }
}

/// The body of `POST /api/auth/change-email/undo` and of `POST /api/auth/delete-account/undo`, which restore an address or an account.
///
/// The request needs neither a session nor a password, because the token is sufficient.
public struct LinkRequest: Codable, Hashable, Sendable {
    /// The token of the link.
    public var token: ResetToken

    /// Creates a request.
    /// - Parameter token: The token of the link.
    public init(token: ResetToken) {
        self.token = token
    }
}

/// The body of `POST /api/auth/change-password`, which sets a new password for the signed-in account.
public struct ChangePasswordRequest: Codable, Hashable, Sendable {
    /// The current password.
    public var currentPassword: Password
    /// The new password.
    public var newPassword: Password

    /// Creates a request.
    /// - Parameters:
    ///   - currentPassword: The current password. It proves that the user sends the request, and not someone else who uses the device.
    ///   - newPassword: The new password. The server's policy validates its strength.
    public init(currentPassword: Password, newPassword: Password) {
        self.currentPassword = currentPassword
        self.newPassword = newPassword
    }

    enum CodingKeys: String, CodingKey {
        case currentPassword = "current_password"
        case newPassword = "new_password"
    }
}

/// The body of `POST /api/auth/change-email`, which requests an email with a link that changes the address.
///
/// The server changes the address only after the user has opened the link.
public struct ChangeEmailRequest: Codable, Hashable, Sendable {
    /// The current password.
    public var currentPassword: Password
    /// The new address.
    public var newEmail: EmailAddress

    /// Creates a request.
    /// - Parameters:
    ///   - currentPassword: The current password.
    ///   - newEmail: The new address, to which the server sends the link.
    public init(currentPassword: Password, newEmail: EmailAddress) {
        self.currentPassword = currentPassword
        self.newEmail = newEmail
    }

    enum CodingKeys: String, CodingKey {
        case currentPassword = "current_password"
        case newEmail = "new_email"
    }
}

/// The body of `PATCH /api/auth/me`, which changes the name and the language of the account.
public struct UpdateUserRequest: Codable, Hashable, Sendable {
    /// The new first name; `nil` to leave it unchanged.
    public var firstName: FirstName?
    /// The new language of the account's emails; `nil` to leave it unchanged.
    public var locale: Language?

    /// Creates a request.
    /// - Parameters:
    ///   - firstName: The new first name; `nil` to leave it unchanged.
    ///   - locale: The new language of the account's emails; `nil` to leave it unchanged. An unsupported language changes nothing.
    public init(firstName: FirstName? = nil, locale: Language? = nil) {
        self.firstName = firstName
        self.locale = locale
    }

    enum CodingKeys: String, CodingKey {
        case locale
        case firstName = "first_name"
    }
}

/// The body of `POST /api/auth/delete-account` and of `POST /api/auth/export`. The user confirms both requests with the password.
public struct PasswordRequest: Codable, Hashable, Sendable {
    /// The current password.
    public var password: Password

    /// Creates a request.
    /// - Parameter password: The current password.
    public init(password: Password) {
        self.password = password
    }
}

/// A session in the list of a user's sessions.
public struct SessionDescription: Codable, Hashable, Sendable, Identifiable {
    /// The id of the session.
    public var id: UserID
    /// The time of the sign-in.
    public var createdAt: Date
    /// The time of the last refresh, or of the sign-in.
    public var lastUsedAt: Date
    /// The name of the device; `nil` if it is unknown.
    public var deviceName: String?
    /// Whether this is the session that sends the request.
    public var isCurrent: Bool

    /// Creates a description.
    /// - Parameters:
    ///   - id: The id of the session. Append it to ``AccountPath/sessions`` to address the session.
    ///   - createdAt: The time of the sign-in.
    ///   - lastUsedAt: The time of the last refresh, or of the sign-in.
    ///   - deviceName: The name of the device; `nil` if it is unknown.
    ///   - isCurrent: Whether this is the session that sends the request.
    public init(id: UserID, createdAt: Date, lastUsedAt: Date, deviceName: String?, isCurrent: Bool) {
        self.id = id
        self.createdAt = createdAt
        self.lastUsedAt = lastUsedAt
        self.deviceName = deviceName
        self.isCurrent = isCurrent
    }

    enum CodingKeys: String, CodingKey {
        case id
        case createdAt = "created_at"
        case lastUsedAt = "last_used_at"
        case deviceName = "device_name"
        case isCurrent = "current"
    }
}

/// The response to `GET /api/auth/sessions`.
public struct SessionsResponse: Codable, Hashable, Sendable {
    /// The sessions, the most recently used first.
    public var sessions: [SessionDescription]

    /// Creates a response.
    /// - Parameter sessions: The sessions, the most recently used first.
    public init(sessions: [SessionDescription]) {
        self.sessions = sessions
    }
}

/// The response to `POST /api/auth/delete-account`.
public struct AccountDeletedResponse: Codable, Hashable, Sendable {
    /// Always true.
    public var success: Bool
    /// The text for the user, in the language of the response.
    public var message: String?
    /// The time at which the server removes the account with its data.
    public var purgeAt: Date?

    /// Creates a response. Its member `success` is true.
    /// - Parameters:
    ///   - message: The text for the user, in the language of the response.
    ///   - purgeAt: The time at which the server removes the account with its data. Until then, the link in the email restores the account.
    public init(message: String?, purgeAt: Date?) {
        self.success = true
        self.message = message
        self.purgeAt = purgeAt
    }

    /// Decodes a response. All members are optional, because another backend may send other members. The account is deleted in any case, so
    /// the client must end the session.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        success = container.ifReadable(.success) ?? true
        message = container.ifReadable(.message)
        purgeAt = container.ifReadable(.purgeAt)
    }

    enum CodingKeys: String, CodingKey {
        case success, message
        case purgeAt = "purge_at"
    }
}

/// The fields of an HTML form with the token of a link and the current password. Two pages use it: one verifies an address, and one
/// confirms a new address. All fields are plain strings, because the page itself reports missing and invalid values.
package struct ConfirmLinkForm: Decodable {
    /// The token of the link.
    package let token: String
    /// The current password of the account.
    package let currentPassword: String

    enum CodingKeys: String, CodingKey {
        case token
        case currentPassword = "current_password"
    }
}

/// The fields of an HTML form with the token of a link and a new password. Two pages use it: one creates the account for a registration,
/// and one verifies an address without the current password. All fields are plain strings, because the page itself reports missing and
/// invalid values.
package struct NewPasswordForm: Decodable {
    /// The token of the link.
    package let token: String
    /// The new password.
    package let newPassword: String
    /// The repeated new password.
    package let confirmPassword: String

    enum CodingKeys: String, CodingKey {
        case token
        case newPassword = "new_password"
        case confirmPassword = "confirm_password"
    }
}

/// The fields of an HTML form with only the token of a link. Two pages use it: one restores a former address, and one restores a deleted
/// account.
package struct LinkForm: Decodable {
    /// The token of the link.
    package let token: String
}
