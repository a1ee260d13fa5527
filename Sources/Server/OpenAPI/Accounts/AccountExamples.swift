import ErrorContract
import StrictJSON

/// The example of the reference: Ana, her account, her tokens.
enum AccountExamples {
    static let user: JSONValue = [
        "id": "8c3e0b52-0e0b-4c62-9a4d-0c5a8e3b7f10", "email": "ana@example.com", "first_name": "Ana",
    ]

    static let session: JSONValue = [
        "access_token": "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiI4QzNFMEI1MiJ9.Zm9yLXNob3ctb25seQ",
        "device_token": .string(deviceToken), "expires_in": 900, "refresh_token": "Zc1o3mJ6Xb0uV4kQ9tR2sY7wE5nH8gLd0aPfKiBxMvA",
        "token_type": "Bearer", "user": user,
    ]

    private static let deviceToken =
        "jD4LUg4LTGKaTQxajjt_EMqM" + String(repeating: "Zm9yLXNob3ctb25seS4u", count: 3) + "Zm9yLXNob3cu"

    static func passwordChanged(_ text: String) -> JSONValue {
        ["device_token": .string(deviceToken), "message": .string(text), "success": true]
    }

    static let register: JSONObject = [
        "email": "ana@example.com", "password": "correct horse battery", "first_name": "Ana", "locale": "es",
    ]

    static let login: JSONObject = ["email": "ana@example.com", "password": "correct horse battery"]

    static let refresh: JSONObject = ["refresh_token": "Zc1o3mJ6Xb0uV4kQ9tR2sY7wE5nH8gLd0aPfKiBxMvA"]

    static let email: JSONObject = ["email": "ana@example.com"]

    static let token = "3f0vJ8mQ2cT9xL5rN7bW1yH6dK4sG0pZaEiUoXqVtRg"

    static let requested = ContractText.resetRequested.text(in: .english)

    static let resetLinkSent: JSONValue = [
        "success": true,
        "data": [
            "message": .string(requested), "reset_method": "email_link", "reset_link_sent": true, "link_expires_in": 3_600,
        ],
    ]

    static let validToken: JSONValue = [
        "email": "ana@example.com", "expires_at": "2026-11-21T11:30:00Z", "first_name": "Ana",
        "user_id": "8c3e0b52-0e0b-4c62-9a4d-0c5a8e3b7f10", "valid": true,
    ]

    static func message(_ text: String) -> JSONValue { ["message": .string(text), "success": true] }
}
