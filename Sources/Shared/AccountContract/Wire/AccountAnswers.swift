public import Foundation

/// An account as its owner sees it.
///
/// Holdfast's server sends every member. Other backends leave some out, or send an id that is an integer: an absent, null or
/// unreadable member decodes to `nil` or to an empty name, so that it doesn't turn a successful sign-in into an error.
public struct AccountUser: Codable, Hashable, Sendable {
    /// The account's id.
    public var id: UserID?
    /// The address of the account.
    public var email: EmailAddress?
    /// The name to greet the user by; empty if the server sends none.
    public var firstName: String

    /// Creates an account.
    public init(id: UserID?, email: EmailAddress?, firstName: String) {
        self.id = id
        self.email = email
        self.firstName = firstName
    }

    /// Decodes an account. The id is a member named `id` or `user_id`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DecodingKeys.self)
        id = container.ifReadable(.id) ?? container.ifReadable(.userID)
        email = container.ifReadable(.email)
        firstName = container.ifReadable(.firstName) ?? ""
    }

    enum CodingKeys: String, CodingKey {
        case id, email
        case firstName = "first_name"
    }

    private enum DecodingKeys: String, CodingKey {
        case id, email
        case userID = "user_id"
        case firstName = "first_name"
    }
}

/// The response to register, login and refresh.
///
/// Only the access token is required of other backends. They may also send the members of ``user`` beside the tokens.
public struct SessionAnswer: Codable, Hashable, Sendable {
    /// The account.
    public var user: AccountUser
    /// The token that requests carry as `Authorization: Bearer`.
    public var accessToken: String
    /// The token to refresh the session with, which each refresh replaces; `nil` if the session can't be refreshed.
    public var refreshToken: RefreshToken?
    /// `Bearer`.
    public var tokenType: String
    /// The lifetime of the access token in seconds; `nil` if the server doesn't send it.
    public var expiresIn: Int?
    /// The token that the device sends with its next sign-in to this account, also after a sign-out; `nil` if the server sends none.
    public var deviceToken: DeviceToken?

    /// Creates a response.
    public init(
        user: AccountUser,
        accessToken: String,
        refreshToken: RefreshToken?,
        expiresIn: Int?,
        deviceToken: DeviceToken? = nil
    ) {
        self.user = user
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.tokenType = "Bearer"
        self.expiresIn = expiresIn
        self.deviceToken = deviceToken
    }

    /// Decodes a response.
    /// - Throws: `DecodingError` if there is no access token, or if the refresh token is not a string of at most
    ///   ``RefreshToken/maximumLength`` bytes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        accessToken = try container.decode(String.self, forKey: .accessToken)
        refreshToken = try container.decodeIfPresent(RefreshToken.self, forKey: .refreshToken)
        tokenType = container.ifReadable(.tokenType) ?? "Bearer"
        expiresIn = container.seconds(.expiresIn)
        deviceToken = container.ifReadable(.deviceToken)
        user = try container.ifReadable(.user) ?? AccountUser(from: decoder)
    }

    enum CodingKeys: String, CodingKey {
        case user
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case tokenType = "token_type"
        case expiresIn = "expires_in"
        case deviceToken = "device_token"
    }
}

extension SessionAnswer: CustomStringConvertible, CustomReflectable {
    /// Never the tokens: descriptions end up in logs.
    public var description: String { "SessionAnswer(hidden)" }
    /// Shows no member.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The response to `GET /api/auth/me`.
public struct UserAnswer: Codable, Hashable, Sendable {
    /// The account.
    public var user: AccountUser

    /// Creates a response.
    public init(user: AccountUser) {
        self.user = user
    }

    /// Decodes a response. Other backends may send the members of ``user`` at the top level.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        user = try container.ifReadable(.user) ?? AccountUser(from: decoder)
    }

    enum CodingKeys: String, CodingKey {
        case user
    }
}

/// The response to a reset request.
public struct MessageAnswer: Codable, Hashable, Sendable {
    /// Always true.
    public var success: Bool
    /// The text for the user, in the language of the response; `nil` if another backend sends none.
    public var message: String?

    /// Creates a response.
    public init(message: String?) {
        self.success = true
        self.message = message
    }

    /// Decodes a response; inside a wrapper (`{"success":true,"data":{"message":…}}`) there is no second `success`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        success = container.ifReadable(.success) ?? true
        message = container.ifReadable(.message)
    }

    enum CodingKeys: String, CodingKey {
        case success, message
    }
}

/// The response to a confirmed reset.
public struct PasswordChangedResponse: Codable, Hashable, Sendable {
    /// Always true.
    public var success: Bool
    /// The text for the user, in the language of the response; `nil` if another backend sends none.
    public var message: String?
    /// The token that the device sends with its next sign-in to the account; `nil` if the server sends none.
    public var deviceToken: DeviceToken?

    /// Creates a response.
    public init(message: String?, deviceToken: DeviceToken?) {
        self.success = true
        self.message = message
        self.deviceToken = deviceToken
    }

    /// Decodes a response; inside a wrapper (`{"success":true,"data":{"message":…}}`) there is no second `success`.
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

/// The response to the validation of a token that is still usable.
///
/// Holdfast's server sends every member. An absent, null or unreadable member of another backend's response decodes to `nil` or to
/// an empty name.
public struct ValidTokenAnswer: Codable, Hashable, Sendable {
    /// Whether the token is usable; true unless the server says otherwise.
    public var valid: Bool
    /// The id of the account that the token belongs to.
    public var userID: UserID?
    /// The address of the account.
    public var email: EmailAddress?
    /// The name to greet the user by; empty if the server sends none.
    public var firstName: String
    /// When the token expires.
    public var expiresAt: Date?

    /// Creates a response.
    public init(userID: UserID?, email: EmailAddress?, firstName: String, expiresAt: Date?) {
        self.valid = true
        self.userID = userID
        self.email = email
        self.firstName = firstName
        self.expiresAt = expiresAt
    }

    /// Decodes a response.
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
    /// - Parameters:
    ///   - message: The text for the user.
    ///   - lifetime: How long a link lives; whole seconds of it are told.
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

extension KeyedDecodingContainer {
    /// The value of a member, or `nil` if the member is absent, null or not of this type.
    fileprivate func ifReadable<Value: Decodable>(_ key: Key) -> Value? {
        (try? decodeIfPresent(Value.self, forKey: key)) ?? nil
    }

    /// A number of seconds, written as a number or as a string of digits.
    fileprivate func seconds(_ key: Key) -> Int? {
        if let number: Double = ifReadable(key) { return Int(exactly: number.rounded(.down)) }
        return ifReadable(key).flatMap { (text: String) in Int(text) }
    }
}
