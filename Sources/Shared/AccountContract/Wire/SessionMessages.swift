public import ErrorContract

/// The paths of the account API. The server accepts each path with and without a trailing slash.
public enum AccountPath {
    /// Creates an account.
    public static let register = "/api/auth/register"
    /// Signs in.
    public static let login = "/api/auth/login"
    /// Refreshes a session.
    public static let refresh = "/api/auth/refresh"
    /// Ends a session.
    public static let logout = "/api/auth/logout"
    /// Returns the signed-in account.
    public static let me = "/api/auth/me"
}

/// The body of `POST /api/auth/register`, which creates an account or requests an email that creates it.
public struct RegisterRequest: Codable, Hashable, Sendable {
    /// The address of the account.
    public var email: EmailAddress
    /// The password as the user typed it. A server with blind registration ignores this password: the user chooses a password after opening
    /// a link in an email, which creates the account. The response of such a server doesn't reveal whether the address has an account.
    public var password: Password?
    /// The name with which emails and screens greet the user.
    public var firstName: FirstName
    /// The language of the account's emails.
    public var locale: Language?

    /// Creates a request.
    /// - Parameters:
    ///   - email: The address of the account.
    ///   - password: The password as the user typed it. It can be `nil` if the server uses blind registration.
    ///   - firstName: The name with which emails and screens greet the user.
    ///   - locale: The language of the account's emails; `nil` if the app doesn't choose a language.
    public init(email: EmailAddress, password: Password? = nil, firstName: FirstName, locale: Language? = nil) {
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

/// The body of `POST /api/auth/login`, which opens a session.
public struct LoginRequest: Codable, Hashable, Sendable {
    /// The address of the account.
    public var email: EmailAddress
    /// The password as the user typed it.
    public var password: Password
    /// The device token that this device received in an earlier response; `nil` if it has none.
    public var deviceToken: DeviceToken?

    /// Creates a request.
    /// - Parameters:
    ///   - email: The address of the account.
    ///   - password: The password as the user typed it.
    ///   - deviceToken: The device token that this device received in the latest response that contained one. With this token, failed
    ///     attempts of other devices don't block the sign-in.
    public init(email: EmailAddress, password: Password, deviceToken: DeviceToken? = nil) {
        self.email = email
        self.password = password
        self.deviceToken = deviceToken
    }

    /// Decodes a request. The initializer ignores an invalid device token.
    /// - Throws: `DecodingError`, ``EmailRefusal`` or ``TextRefusal`` if the address or the password is missing or invalid.
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

/// The body of `POST /api/auth/refresh` and of `POST /api/auth/logout`, which refresh or end a session.
public struct RefreshRequest: Codable, Hashable, Sendable {
    /// The token that refreshes the session.
    public var refreshToken: RefreshToken

    /// Creates a request.
    /// - Parameter refreshToken: The latest refresh token of the session. To end a session, an earlier refresh token works too.
    public init(refreshToken: RefreshToken) {
        self.refreshToken = refreshToken
    }

    enum CodingKeys: String, CodingKey {
        case refreshToken = "refresh_token"
    }
}

/// An account, with the members that its own user can see.
///
/// Holdfast's server sends every member. Other backends omit some members, or send an integer as the id. A member that is absent, null or
/// unreadable becomes `nil` or an empty name, so that a successful sign-in doesn't become an error.
public struct AccountUser: Codable, Hashable, Sendable {
    /// The account's id.
    public var id: UserID?
    /// The address of the account.
    public var email: EmailAddress?
    /// The name with which the app greets the user; empty if the server sends no name.
    public var firstName: String
    /// Whether the user has proven access to the mailbox; `nil` if the server doesn't send this member.
    public var emailVerified: Bool?

    /// Creates an account.
    /// - Parameters:
    ///   - id: The account's id.
    ///   - email: The address of the account.
    ///   - firstName: The name with which the app greets the user; empty if there is no name.
    ///   - emailVerified: Whether the user has proven access to the mailbox; `nil` if it is unknown.
    public init(id: UserID?, email: EmailAddress?, firstName: String, emailVerified: Bool? = nil) {
        self.id = id
        self.email = email
        self.firstName = firstName
        self.emailVerified = emailVerified
    }

    /// Decodes an account. The initializer reads the id from the member `id` or `user_id`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DecodingKeys.self)
        id = container.ifReadable(.id) ?? container.ifReadable(.userID)
        email = container.ifReadable(.email)
        firstName = container.ifReadable(.firstName) ?? ""
        emailVerified = container.ifReadable(.emailVerified)
    }

    enum CodingKeys: String, CodingKey {
        case id, email
        case firstName = "first_name"
        case emailVerified = "email_verified"
    }

    private enum DecodingKeys: String, CodingKey {
        case id, email
        case userID = "user_id"
        case firstName = "first_name"
        case emailVerified = "email_verified"
    }
}

/// The response to register, login and refresh.
///
/// In the response of another backend, only the access token is required, and the members of ``user`` can be at the top level, beside the
/// tokens. The text that `description` returns contains no token.
public struct SessionResponse: Codable, Hashable, Sendable {
    /// The account.
    public var user: AccountUser
    /// The token that requests send as `Authorization: Bearer`.
    public var accessToken: String
    /// The token that refreshes the session; `nil` if the session can't be refreshed. Each refresh replaces the token.
    public var refreshToken: RefreshToken?
    /// The type of the access token; `Bearer` if the server doesn't send it.
    public var tokenType: String
    /// The lifetime of the access token in seconds; `nil` if the server doesn't send the lifetime.
    public var expiresIn: Int?
    /// The token that the device sends with its next sign-in to this account, even after a sign-out; `nil` if the server sends no token.
    public var deviceToken: DeviceToken?

    /// Creates a response. Its ``tokenType`` is `Bearer`.
    /// - Parameters:
    ///   - user: The account.
    ///   - accessToken: The token that requests send as `Authorization: Bearer`.
    ///   - refreshToken: The token that refreshes the session; `nil` if the session can't be refreshed.
    ///   - expiresIn: The lifetime of the access token in seconds.
    ///   - deviceToken: The token that the device sends with its next sign-in to this account.
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
    /// - Throws: `DecodingError` if there is no access token, or if the refresh token is not a string. ``TextRefusal`` if the refresh token
    ///   is empty or has more than ``RefreshToken/maximumLength`` bytes.
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

extension SessionResponse: CustomStringConvertible, CustomReflectable {
    /// A text without the tokens, because descriptions are often logged.
    public var description: String { "SessionResponse(hidden)" }
    /// A mirror without members.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The response to `GET /api/auth/me`.
public struct UserResponse: Codable, Hashable, Sendable {
    /// The account.
    public var user: AccountUser

    /// Creates a response.
    /// - Parameter user: The account.
    public init(user: AccountUser) {
        self.user = user
    }

    /// Decodes a response. Other backends may send the members of ``user`` at the top level.
    /// - Throws: `DecodingError` if the response isn't an object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        user = try container.ifReadable(.user) ?? AccountUser(from: decoder)
    }

    enum CodingKeys: String, CodingKey {
        case user
    }
}

extension KeyedDecodingContainer {
    /// Returns the value of a member; `nil` if the member is absent, null or has another type. Use this method for members that a client
    /// doesn't need.
    func ifReadable<Value: Decodable>(_ key: Key) -> Value? {
        (try? decodeIfPresent(Value.self, forKey: key)) ?? nil
    }

    /// Returns a number of seconds that is encoded as a number or as a string of digits.
    /// - Returns: The number, rounded down; `nil` if the member is absent or can't be read.
    func seconds(_ key: Key) -> Int? {
        if let number: Double = ifReadable(key) { return Int(exactly: number.rounded(.down)) }
        return ifReadable(key).flatMap { (text: String) in Int(text) }
    }
}
