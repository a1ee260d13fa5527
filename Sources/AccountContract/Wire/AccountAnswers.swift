public import Foundation

/// An account as its owner sees it.
public struct AccountUser: Codable, Hashable, Sendable {
    /// The account's id.
    public var id: UUID
    /// The address of the account.
    public var email: EmailAddress
    /// The name that the person is greeted by.
    public var firstName: String

    /// Creates an answer.
    public init(id: UUID, email: EmailAddress, firstName: String) {
        self.id = id
        self.email = email
        self.firstName = firstName
    }

    enum CodingKeys: String, CodingKey {
        case id, email
        case firstName = "first_name"
    }
}

/// The answer to register, login and refresh.
public struct SessionAnswer: Codable, Hashable, Sendable {
    /// The account.
    public var user: AccountUser
    /// What calls carry as `Authorization: Bearer`.
    public var accessToken: String
    /// What the session is continued with; each use gives a new one.
    public var refreshToken: RefreshToken
    /// `Bearer`.
    public var tokenType: String
    /// The life of the access token, in seconds.
    public var expiresIn: Int

    /// Creates an answer.
    public init(user: AccountUser, accessToken: String, refreshToken: RefreshToken, expiresIn: Int) {
        self.user = user
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.tokenType = "Bearer"
        self.expiresIn = expiresIn
    }

    enum CodingKeys: String, CodingKey {
        case user
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
    }
}

extension SessionAnswer: CustomStringConvertible, CustomReflectable {
    /// Never the tokens: descriptions end up in logs.
    public var description: String { "SessionAnswer(hidden)" }
    /// Shows no member.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The answer to `GET /api/auth/me`.
public struct UserAnswer: Codable, Hashable, Sendable {
    /// The account.
    public var user: AccountUser

    /// Creates an answer.
    public init(user: AccountUser) {
        self.user = user
    }
}

/// The answer to a reset request and to a confirmed reset.
public struct MessageAnswer: Codable, Hashable, Sendable {
    /// Always true.
    public var success: Bool
    /// The text for the person, in the language of the answer.
    public var message: String

    /// Creates an answer.
    public init(message: String) {
        self.success = true
        self.message = message
    }

    /// Reads an answer; inside a wrapper (`{"success":true,"data":{"message":…}}`) `success` is not said again.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.success = try container.decodeIfPresent(Bool.self, forKey: .success) ?? true
        self.message = try container.decode(String.self, forKey: .message)
    }
}

/// The answer to a token that may still be used.
public struct ValidTokenAnswer: Codable, Hashable, Sendable {
    /// Always true.
    public var valid: Bool
    /// The id of the account that the token is for.
    public var userID: UUID
    /// The address of the account.
    public var email: EmailAddress
    /// The name that the person is greeted by.
    public var firstName: String
    /// When the token stops being valid.
    public var expiresAt: Date

    /// Creates an answer.
    public init(userID: UUID, email: EmailAddress, firstName: String, expiresAt: Date) {
        self.valid = true
        self.userID = userID
        self.email = email
        self.firstName = firstName
        self.expiresAt = expiresAt
    }

    enum CodingKeys: String, CodingKey {
        case valid, email
        case userID = "user_id"
        case firstName = "first_name"
        case expiresAt = "expires_at"
    }
}

/// The answer to a reset request where bodies have the success form: wrapped, for apps in the field.
public struct ResetLinkSentAnswer: Codable, Hashable, Sendable {
    /// What those apps look at; the same whether or not there is an account.
    public struct Facts: Codable, Hashable, Sendable {
        /// The text for the person, in the language of the answer.
        public var message: String
        /// Always `email_link`.
        public var resetMethod: String
        /// Always true: it tells nothing about an account.
        public var resetLinkSent: Bool
        /// How long a link lives, in seconds.
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
    /// The answer.
    public var data: Facts

    /// Creates an answer.
    /// - Parameter lifetime: How long a link lives; whole seconds of it are told.
    public init(message: String, lifetime: Duration) {
        success = true
        let seconds = Int(lifetime.components.seconds)
        data = Facts(message: message, resetMethod: "email_link", resetLinkSent: true, linkExpiresIn: seconds)
    }
}

/// The answer to `POST /reset_password/`: wrapped and flat at once, for apps in the field.
public struct LegacyResetAnswer: Codable, Hashable, Sendable {
    /// What those apps look at; true whether or not there is an account.
    public struct Facts: Codable, Hashable, Sendable {
        /// Always true: it tells nothing about an account.
        public var userExistStatus: Bool
        /// The text for the person, in the language of the answer.
        public var message: String

        /// Creates an answer.
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
    /// The answer as it stands in the wrapper.
    public var data: Facts
    /// Always true: it tells nothing about an account.
    public var userExistStatus: Bool
    /// The text for the person, in the language of the answer.
    public var message: String

    /// Creates an answer.
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
