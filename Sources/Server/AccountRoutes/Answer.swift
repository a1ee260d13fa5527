import AccountContract
import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import StrictJSON

extension Response {
    /// An answer with a JSON body.
    static func json(
        _ value: some Encodable,
        status: HTTPResponse.Status = .ok,
        language: Language? = nil
    ) throws -> Response {
        json(bytes: try answerEncoder.encode(value), status: status, language: language)
    }

    /// A response whose members are written without the encoder of Foundation, which takes ten times as long.
    static func json(_ value: some MembersAnswer, status: HTTPResponse.Status = .ok, language: Language? = nil) throws -> Response
    {
        json(bytes: JSONValue.object(value.members).encoded(), status: status, language: language)
    }

    private static func json(bytes: some Sequence<UInt8>, status: HTTPResponse.Status, language: Language?) -> Response {
        var headers: HTTPFields = [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"]
        headers[.contentLanguage] = language?.rawValue
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static let answerEncoder = {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
}

/// A response to a frequent request, which writes its own members.
protocol MembersAnswer: Encodable {
    /// The members as the encoder writes them: sorted by their keys, without those that are `nil`.
    var members: JSONObject { get }
}

extension MessageAnswer: MembersAnswer {
    var members: JSONObject {
        var members = JSONObject()
        members["message"] = message.map(JSONValue.string)
        members["success"] = .bool(success)
        return members
    }
}

extension ValidTokenAnswer: MembersAnswer {
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
        members["first_name"] = .string(firstName)
        members["id"] = id.map { .string($0.rawValue) }
        return members
    }
}

extension UserAnswer: MembersAnswer {
    var members: JSONObject { ["user": .object(user.members)] }
}
