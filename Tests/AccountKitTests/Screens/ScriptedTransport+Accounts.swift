import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP

/// Responses of an account server.
extension ScriptedTransport.Step {
    static let userID = "8F6C9E0A-9A5D-4C0E-8C5E-0A3B0C7D1E2F"

    static let session = Self.response(
        status: 200,
        body: """
            {"user":{"id":"\(userID)","email":"ana@example.com","first_name":"Ana"},"access_token":"access",
            "refresh_token":"refresh","token_type":"Bearer","expires_in":900}
            """
    )
    static let accepted = Self.response(status: 200, body: #"{"success":true,"message":"whatever the server says"}"#)
    static let linkIsGood = good(firstName: "Ana")
    static let unreachable = Self.failure(TransportError(.unreachable, message: "connection refused", wasSent: false))
    static let offline = Self.failure(TransportError(.noInternet, message: "no route", wasSent: false))
    static let lost = Self.failure(TransportError(.connectionLost, message: "reset by peer", wasSent: true))
    static let broken = Self.refusal(500, .serverInternalError)

    static func good(firstName: String) -> Self {
        .response(
            status: 200,
            body: """
                {"valid":true,"user_id":"\(userID)","email":"ana@example.com","first_name":"\(firstName)",
                "expires_at":"2025-11-04T11:30:00Z"}
                """
        )
    }

    /// A refusal in the contract's form.
    static func refusal(_ status: Int, _ code: ErrorCode, message: String? = nil, retryAfter: Int? = nil) -> Self {
        var headers: HTTPFields = [.retryAfter: retryAfter.map(String.init) ?? ""]
        if retryAfter == nil { headers[.retryAfter] = nil }
        if message != nil { headers[.contentLanguage] = "en" }
        let text = message.map { #","message":"\#($0)""# } ?? ""
        return .response(status: status, headers: headers, body: #"{"error":{"code":"\#(code)"\#(text),"details":{}}}"#)
    }

    /// A limit's refusal without a body, as after an edge server.
    static func limited(retryAfter: Int?) -> Self {
        refusal(429, .rateLimitExceeded, retryAfter: retryAfter)
    }
}
