#if DEBUG
    import Foundation
    import HTTPTypes
    import HoldfastTesting
    import Holdfast

    /// The responses of the server in previews and tests.
    extension ScriptedTransport.Step {
        static let session = Self.response(
            status: 200,
            body: """
                {"user":{"id":"8F6C9E0A-9A5D-4C0E-8C5E-0A3B0C7D1E2F","email":"ana@example.com","first_name":"Ana"},
                "access_token":"access","refresh_token":"refresh","token_type":"Bearer","expires_in":900}
                """
        )
        static let accepted = Self.response(status: 200, body: #"{"success":true,"message":"accepted"}"#)
        static let registrationSent = Self.response(
            status: 202,
            body: #"{"success":true,"message":"We have sent you an email with the next step."}"#
        )
        static let deleted = Self.response(status: 202, body: #"{"success":true,"purge_at":"2025-11-11T10:30:00Z"}"#)
        static let wrongPassword = refusal(401, "AUTH_INVALID_CREDENTIALS")
        static let sessionExpired = refusal(401, "AUTH_SESSION_EXPIRED")
        static let linkRefused = refusal(400, "AUTH_RESET_TOKEN_INVALID")
        static let otherUser = Self.response(status: 200, body: #"{"user":{"id":"1","email":"ben@example.com"}}"#)
        static let devices = Self.response(
            status: 200,
            body: """
                {"sessions":[
                {"id":"1","created_at":"2025-11-04T10:00:00Z","last_used_at":"2025-11-04T10:00:00Z","device_name":"iPhone","current":true},
                {"id":"2","created_at":"2025-11-01T10:00:00Z","last_used_at":"2025-11-03T10:00:00Z","current":false}]}
                """
        )
        static let oneDevice = Self.response(
            status: 200,
            body: """
                {"sessions":[
                {"id":"1","created_at":"2025-11-04T10:00:00Z","last_used_at":"2025-11-04T10:00:00Z","device_name":"iPhone","current":true}]}
                """
        )
        static let linkIsGood = Self.response(
            status: 200,
            body: """
                {"valid":true,"user_id":"8F6C9E0A-9A5D-4C0E-8C5E-0A3B0C7D1E2F","email":"ana@example.com","first_name":"Ana",
                "expires_at":"2025-11-04T11:30:00Z"}
                """
        )
        static let notes = Self.response(status: 200, body: #"[{"id":1,"title":"Milk"},{"id":2,"title":"Bread"}]"#)
        static let emailRefused = Self.response(
            status: 400,
            headers: [.contentLanguage: "en"],
            body: #"{"email":["Enter another address."]}"#
        )
        static let noContent = Self.response(status: 204)
        static let offline = Self.failure(TransportError(.noInternet, message: "no route", wasSent: false))
        static let lost = Self.failure(TransportError(.connectionLost, message: "reset by peer", wasSent: true))

        /// A refusal with a code.
        static func refusal(_ status: Int, _ code: String, retryAfter: Int? = nil) -> Self {
            var headers: HTTPFields = [:]
            headers[.retryAfter] = retryAfter.map(String.init)
            return .response(status: status, headers: headers, body: #"{"error":{"code":"\#(code)","details":{}}}"#)
        }
    }
#endif
