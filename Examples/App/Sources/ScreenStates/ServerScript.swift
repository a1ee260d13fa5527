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
