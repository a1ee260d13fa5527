import AccountContract
import AccountCore
import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import ServerMiddleware
import StrictJSON

extension Response {
    /// Returns a response with a JSON body, which caches must not store.
    /// - Parameters:
    ///   - value: The body.
    ///   - status: The status.
    ///   - language: The language of the texts in the body, for `Content-Language`.
    /// - Throws: `EncodingError`.
    static func json(
        _ value: some Encodable,
        status: HTTPResponse.Status = .ok,
        language: Language? = nil
    ) throws -> Response {
        json(bytes: try responseEncoder.encode(value), status: status, language: language)
    }

    /// Returns a response with a JSON body, which caches must not store. The method encodes the members without Foundation's encoder, which
    /// takes ten times as long.
    static func json(_ value: some MembersResponse, status: HTTPResponse.Status = .ok, language: Language? = nil) throws
        -> Response
    {
        json(bytes: JSONValue.object(value.members).encoded(), status: status, language: language)
    }

    /// Returns a response with a JSON value, which caches must not store.
    static func json(_ value: JSONValue) -> Response { json(bytes: value.encoded(), status: .ok, language: nil) }

    /// Returns a response with an encoded body.
    private static func json(bytes: some Sequence<UInt8>, status: HTTPResponse.Status, language: Language?) -> Response {
        var headers: HTTPFields = [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"]
        headers[.contentLanguage] = language?.rawValue
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Returns a page with a content security policy and status 200.
    /// - Parameters:
    ///   - html: The page.
    ///   - policy: The value of `Content-Security-Policy`, with the nonce of the page.
    ///   - language: The language of the page, for `Content-Language`.
    static func page(_ html: String, policy: String, language: Language = .english) -> Response {
        var headers: HTTPFields = [.contentType: "text/html; charset=utf-8"]
        headers[.contentLanguage] = language.rawValue
        headers[.contentSecurityPolicy] = policy
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    /// The encoder of bodies: sorted members, dates in ISO 8601.
    static let responseEncoder = {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
}

/// A response that lists its own JSON members. Responses to frequent requests use this protocol, because encoding is then faster.
protocol MembersResponse: Encodable {
    /// The members in the order in which they are encoded: sorted by their keys. Members whose value is `nil` are omitted.
    var members: JSONObject { get }
}

extension MessageResponse: MembersResponse {
    /// The members of the response, sorted by their keys.
    var members: JSONObject {
        var members = JSONObject()
        members["message"] = message.map(JSONValue.string)
        members["success"] = .bool(success)
        return members
    }
}

extension ResetLinkSentResponse: MembersResponse {
    var members: JSONObject {
        let data: JSONValue = [
            "link_expires_in": .integer(Int64(data.linkExpiresIn)), "message": .string(data.message),
            "reset_link_sent": .bool(data.resetLinkSent), "reset_method": .string(data.resetMethod),
        ]
        return ["data": data, "success": .bool(success)]
    }
}

extension ValidTokenResponse: MembersResponse {
    var members: JSONObject {
        var members = JSONObject()
        members["email"] = email.map { .string($0.text) }
        members["expires_at"] = expiresAt.map { .string($0.formatted(.iso8601)) }
        members["first_name"] = .string(firstName)
        members["user_id"] = userID.map { .string($0.rawValue) }
        members["valid"] = .bool(valid)
        return members
    }
}

extension AccountUser {
    fileprivate var members: JSONObject {
        var members = JSONObject()
        members["email"] = email.map { .string($0.text) }
        members["email_verified"] = emailVerified.map { .bool($0) }
        members["first_name"] = .string(firstName)
        members["id"] = id.map { .string($0.rawValue) }
        return members
    }
}

extension UserResponse: MembersResponse {
    var members: JSONObject { ["user": .object(user.members)] }
}

extension SessionResponse: MembersResponse {
    var members: JSONObject {
        var members = JSONObject()
        members["access_token"] = .string(accessToken)
        members["device_token"] = deviceToken.map { .string($0.rawValue) }
        members["expires_in"] = expiresIn.map { .integer(Int64($0)) }
        members["refresh_token"] = refreshToken.map { .string($0.rawValue) }
        members["token_type"] = .string(tokenType)
        members["user"] = .object(user.members)
        return members
    }
}

/// Runs code of `AccountCore`, and converts its errors to ``ContractError``. Other errors pass unchanged.
///
/// - Parameter body: The code, which throws `AccountError` and `StoreFailure`.
/// - Throws: ``ContractError`` for these errors.
func translatingDomainErrors<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch let error as AccountError {
        throw ContractError(error)
    } catch let error as StoreFailure {
        throw ContractError(error)
    }
}

extension ContractError {
    /// Converts an error of `AccountCore` to a ``ContractError``. Unknown errors become internal errors.
    init(domain error: any Error) {
        switch error {
        case let error as ContractError: self = error
        case let error as AccountError: self.init(error)
        case let error as StoreFailure: self.init(error)
        default: self.init(.serverInternalError, underlying: error)
        }
    }
}

extension ContractError {
    /// Converts an error of a store. The code is `SERVER_TIMEOUT` if the outcome of the operation is unknown, `SERVER_SERVICE_UNAVAILABLE`
    /// with `Retry-After: 1` if the store is busy, and otherwise `SERVER_DATABASE_ERROR`.
    ///
    /// `SERVER_SERVICE_UNAVAILABLE` means that the server has changed nothing. After this code, a client can repeat a request even without
    /// an idempotency key. After the other codes, a request without an idempotency key must not be repeated.
    init(_ error: StoreFailure) {
        // An unknown outcome must not get the code of a busy store. Clients repeat a request after that code, because it means that nothing
        // was changed.
        let code: ErrorCode =
            error.isOutcomeUnknown ? .serverTimeout : error.isBusy ? .serverServiceUnavailable : .serverDatabaseError
        self.init(code, retryAfter: error.isBusy ? .seconds(1) : nil, underlying: error)
    }

    /// Converts an `AccountError`. For a weak password, `details.reasons` lists the weaknesses.
    init(_ error: AccountError) {
        self.init(error.code, message: error.weaknesses.first?.message ?? error.message, retryAfter: error.retryAfter)
        if !error.weaknesses.isEmpty {
            details["reasons"] = .array(error.weaknesses.map { .string($0.name) })
        }
    }
}

extension Request {
    /// Whether the client prefers JSON to a page.
    var prefersJSON: Bool {
        let preference = MediaPreference(accept: headers[.accept])
        let html = preference.quality(of: "text/html")
        return ["application/json", "application/problem+json"].contains { preference.quality(of: $0) > html }
    }
}
