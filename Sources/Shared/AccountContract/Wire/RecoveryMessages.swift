public import Foundation

extension AccountPath {
    /// Requests an email with a reset link.
    public static let requestPasswordReset = "/api/request-password-reset/"
    /// Validates the token of a link without consuming it.
    public static let validateResetToken = "/api/validate-reset-token/"
    /// Sets a new password with a link.
    public static let confirmPasswordReset = "/api/confirm-password-reset/"
    /// Requests a reset link, for existing apps. The response contains its members twice: in the object `data` and at the top level.
    public static let legacyPasswordReset = "/reset_password/"
    /// The page that a reset link opens.
    package static let resetPage = "/" + ResetLink.page
    /// The target of the form that requests a link.
    package static let resetRequestPage = resetPage + "/request"
    /// The page that the link in the email about a changed password opens. On this page, the user reports that someone else changed the
    /// password, and locks the account.
    package static let accountLockPage = resetPage + "/not-me"
}

/// The body of `POST /api/request-password-reset/` and of `POST /reset_password/`, which request an email with a reset link.
public struct PasswordResetRequest: Codable, Hashable, Sendable {
    /// The address of the account.
    public var email: EmailAddress

    /// Creates a request.
    /// - Parameter email: The address of the account. The response is the same if no account has the address.
    public init(email: EmailAddress) {
        self.email = email
    }
}

/// The body of `POST /api/validate-reset-token/`, which validates the token of a link without consuming it.
public struct ValidateResetTokenRequest: Codable, Hashable, Sendable {
    /// The token of the link.
    public var token: ResetToken
    /// The address that the token must belong to; `nil` for any address.
    public var email: EmailAddress?

    /// Creates a request.
    /// - Parameters:
    ///   - token: The token of the link.
    ///   - email: The address that the token must belong to; `nil` for any address.
    public init(token: ResetToken, email: EmailAddress? = nil) {
        self.token = token
        self.email = email
    }
}

/// The body of `POST /api/confirm-password-reset/`, which sets a new password by a link and consumes its token.
public struct ConfirmPasswordResetRequest: Codable, Hashable, Sendable {
    /// The token of the link.
    public var token: ResetToken
    /// The address that the token must belong to; `nil` for any address.
    public var email: EmailAddress?
    /// The new password.
    public var newPassword: Password

    /// Creates a request.
    /// - Parameters:
    ///   - token: The token of the link.
    ///   - email: The address that the token must belong to; `nil` for any address.
    ///   - newPassword: The new password. The server's policy validates its strength.
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

/// A response with a text for the user, such as the response to a reset request.
public struct MessageResponse: Codable, Hashable, Sendable {
    /// Always true.
    public var success: Bool
    /// The text for the user, in the language of the response; `nil` if another backend sends no text.
    public var message: String?

    /// Creates a response. Its member `success` is true.
    /// - Parameter message: The text for the user, in the language of the response.
    public init(message: String?) {
        self.success = true
        self.message = message
    }

    /// Decodes a response. The member `success` is optional, because another backend may put the response into an object `data` without
    /// this member: `{"success":true,"data":{"message":…}}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        success = container.ifReadable(.success) ?? true
        message = container.ifReadable(.message)
    }

    enum CodingKeys: String, CodingKey {
        case success, message
    }
}

/// The response to a request for a reset link, in the format that existing apps decode. The members are in the object `data`.
public struct ResetLinkSentResponse: Codable, Hashable, Sendable {
    /// The members that existing apps read. They are the same whether or not the account exists.
    public struct Facts: Codable, Hashable, Sendable {
        /// The text for the user, in the language of the response.
        public var message: String
        /// Always `email_link`.
        public var resetMethod: String
        /// Always true, even if the account doesn't exist.
        public var resetLinkSent: Bool
        /// The lifetime of a link, in seconds.
        public var linkExpiresIn: Int

        enum CodingKeys: String, CodingKey {
            case message
            case resetMethod = "reset_method"
            case resetLinkSent = "reset_link_sent"
            case linkExpiresIn = "link_expires_in"
        }
    }

    /// Always true.
    public var success: Bool
    /// The members that existing apps read.
    public var data: Facts

    /// Creates a response.
    /// - Parameters:
    ///   - message: The text for the user.
    ///   - lifetime: The lifetime of a link. The response contains it in seconds, rounded down.
    public init(message: String, lifetime: Duration) {
        success = true
        let seconds = Int(lifetime.components.seconds)
        data = Facts(message: message, resetMethod: "email_link", resetLinkSent: true, linkExpiresIn: seconds)
    }
}

/// The response to `POST /reset_password/`, for existing apps. It contains the members twice: in the object `data` and at the top level.
public struct LegacyResetResponse: Codable, Hashable, Sendable {
    /// The members that existing apps read. They are the same whether or not the account exists.
    public struct Facts: Codable, Hashable, Sendable {
        /// Always true, even if the account doesn't exist.
        public var userExistStatus: Bool
        /// The text for the user, in the language of the response.
        public var message: String

        /// Creates the members. ``userExistStatus`` is true.
        /// - Parameter message: The text for the user, in the language of the response.
        public init(message: String) {
            self.userExistStatus = true
            self.message = message
        }

        enum CodingKeys: String, CodingKey {
            case message
            case userExistStatus = "user_exist_status"
        }
    }

    /// Always true.
    public var success: Bool
    /// The same members as at the top level.
    public var data: Facts
    /// Always true, even if the account doesn't exist.
    public var userExistStatus: Bool
    /// The text for the user, in the language of the response.
    public var message: String

    /// Creates a response, which contains the message twice.
    /// - Parameter message: The text for the user, in the language of the response.
    public init(message: String) {
        self.success = true
        self.data = Facts(message: message)
        self.userExistStatus = true
        self.message = message
    }

    enum CodingKeys: String, CodingKey {
        case success, data, message
        case userExistStatus = "user_exist_status"
    }
}

/// The response to the validation of a token that is still usable.
///
/// Holdfast's server sends every member. In the response of another backend, a member can be absent, null or unreadable. Such a member
/// becomes `nil` or an empty name.
public struct ValidTokenResponse: Codable, Hashable, Sendable {
    /// Whether the token is usable; `true` if the server doesn't send this member.
    public var valid: Bool
    /// The id of the account that the token belongs to.
    public var userID: UserID?
    /// The address of the account.
    public var email: EmailAddress?
    /// The name with which the app greets the user; empty if the server sends no name.
    public var firstName: String
    /// The time at which the token expires.
    public var expiresAt: Date?

    /// Creates a response for a usable token.
    /// - Parameters:
    ///   - userID: The id of the account that the token belongs to.
    ///   - email: The address of the account.
    ///   - firstName: The name with which the app greets the user.
    ///   - expiresAt: The time at which the token expires.
    public init(userID: UserID?, email: EmailAddress?, firstName: String, expiresAt: Date?) {
        self.valid = true
        self.userID = userID
        self.email = email
        self.firstName = firstName
        self.expiresAt = expiresAt
    }

    /// Decodes a response. Members that are absent, null or unreadable don't cause an error.
    /// - Throws: `DecodingError` if the response isn't an object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        valid = container.ifReadable(.valid) ?? true
        userID = container.ifReadable(.userID)
        email = container.ifReadable(.email)
        firstName = container.ifReadable(.firstName) ?? ""
        expiresAt = container.ifReadable(.expiresAt)
    }

    enum CodingKeys: String, CodingKey {
        case valid, email
        case userID = "user_id"
        case firstName = "first_name"
        case expiresAt = "expires_at"
    }
}

/// The response after the user set a new password with a reset link.
public struct PasswordChangedResponse: Codable, Hashable, Sendable {
    /// Always true.
    public var success: Bool
    /// The text for the user, in the language of the response; `nil` if another backend sends no text.
    public var message: String?
    /// The token that the device sends with its next sign-in to the account; `nil` if the server sends no token.
    public var deviceToken: DeviceToken?

    /// Creates a response. Its member `success` is true.
    /// - Parameters:
    ///   - message: The text for the user, in the language of the response.
    ///   - deviceToken: The token that the device stores and sends with its next sign-in.
    public init(message: String?, deviceToken: DeviceToken?) {
        self.success = true
        self.message = message
        self.deviceToken = deviceToken
    }

    /// Decodes a response. The member `success` is optional, because another backend may put the response into an object `data` without
    /// this member: `{"success":true,"data":{"message":…}}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        success = container.ifReadable(.success) ?? true
        message = container.ifReadable(.message)
        deviceToken = container.ifReadable(.deviceToken)
    }

    enum CodingKeys: String, CodingKey {
        case success, message
        case deviceToken = "device_token"
    }
}

/// The fields of the HTML form for a new password. All fields are plain strings, because the page itself reports missing and invalid
/// values.
package struct ResetForm: Decodable {
    /// The token of the link.
    package let token: String
    /// The address that the link contains; empty or absent if there is none.
    package let email: String?
    /// The new password.
    package let newPassword: String
    /// The repeated new password.
    package let confirmPassword: String

    enum CodingKeys: String, CodingKey {
        case token, email
        case newPassword = "new_password"
        case confirmPassword = "confirm_password"
    }
}

/// The fields of the HTML form that requests a link.
package struct ResetRequestForm: Decodable {
    /// The address of the account.
    package let email: String
}

/// The fields of the HTML form that locks an account.
package struct AccountLockForm: Decodable {
    /// The token of the link.
    package let token: String
}
