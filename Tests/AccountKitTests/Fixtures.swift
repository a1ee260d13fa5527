import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

/// An account client over a script.
struct Fixture {
    let transport: ScriptedTransport
    let store: MemoryCredentialStore
    let client: AccountClient

    init(_ steps: ScriptedTransport.Step..., credentials: Credentials? = nil) throws {
        try self.init(steps, credentials: credentials)
    }

    init(_ steps: [ScriptedTransport.Step], credentials: Credentials? = nil) throws {
        transport = ScriptedTransport(steps)
        store = MemoryCredentialStore(credentials)
        let base = try #require(URL(string: "https://api.example.org"))
        client = AccountClient(
            api: APIClient(
                baseURL: base,
                transport: transport,
                language: .spanish,
                middleware: [],
                environment: ClientEnvironment(wallClock: { Samples.now })
            ),
            store: store
        )
    }

    /// Method, path and body of the sent requests.
    var sent: [String] {
        transport.sent.map { sent in
            let body = sent.body.map { " " + String(decoding: $0, as: UTF8.self) } ?? ""
            return "\(sent.request.method) \(sent.request.path ?? "")\(body)"
        }
    }
}

enum Samples {
    static let userJSON = #""user":{"id":"00000000-0000-4000-8000-000000000001","email":"ana@example.org","first_name":"Ana"}"#

    /// The time of the tests' wall clock.
    static let now = Date(timeIntervalSince1970: 1_762_252_200)

    static func sessionJSON(_ number: Int) -> String {
        #"{\#(userJSON),"access_token":"at\#(number)","refresh_token":"rt\#(number)","token_type":"Bearer","expires_in":900}"#
    }

    static func errorJSON(_ code: ErrorCode) -> String {
        #"{"error":{"code":"\#(code)","message":"m","details":{},"request_id":"r1"}}"#
    }

    static func credentials(_ number: Int) throws -> Credentials {
        Credentials(accessToken: "at\(number)", refreshToken: "rt\(number)", expiresAt: now.addingTimeInterval(900))
    }

    static func link(email: String? = "ana@example.org") throws -> ResetLink {
        ResetLink(token: try ResetToken("tok"), email: try email.map { try EmailAddress($0) })
    }
}

/// Returns the typed error of an operation, or `nil` if it succeeds.
func failure(_ operation: () async throws -> Void) async -> APIError? {
    do {
        try await operation()
        return nil
    } catch {
        if !(error is APIError) { Issue.record("not an API error: \(error)") }
        return error as? APIError
    }
}
