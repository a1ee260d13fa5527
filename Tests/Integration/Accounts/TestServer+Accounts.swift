import AccountContract
import AccountCore
import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

extension TestServer {
    /// Sends JSON, or no body, with an access token if there is one.
    func send(
        _ method: String,
        _ path: String,
        _ json: String? = nil,
        bearer: String? = nil,
        headers: [String] = []
    ) async throws -> RawHTTP.Answer {
        try await RawHTTP.send(
            method,
            path,
            to: url,
            headers: (json == nil ? [] : ["Content-Type: application/json"])
                + (bearer.map { ["Authorization: Bearer \($0)"] } ?? []) + headers,
            body: Array((json ?? "").utf8)
        )
    }

    /// Adds an account with an address that is not verified.
    func registerUnverified(_ email: String) async throws {
        _ = try await server.accounts.registration.add(
            email: try EmailAddress(email),
            password: try Password("correct horse battery"),
            firstName: try FirstName("Ana"),
            language: .english
        )
    }

    /// Requests a verification link as a client without a session, and returns its token.
    func verificationToken(for email: String) async throws -> String {
        let before = try links(to: email).count { $0.purpose == .verifyEmail }
        _ = try await post(AccountPath.requestVerification, #"{"email":"\#(email)"}"#)
        try await eventually { try links(to: email).count { $0.purpose == .verifyEmail } > before }
        return try await token(.verifyEmail, to: email)
    }

    /// The status of `GET /api/auth/me`.
    func me(_ access: String) async throws -> Int { try await send("GET", AccountPath.me, bearer: access).status }
}
