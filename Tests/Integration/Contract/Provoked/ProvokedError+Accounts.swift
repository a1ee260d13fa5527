import AccountContract
import AccountCore
import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

extension ProvokedError {
    private static let password = "correct horse battery"

    /// Errors of accounts, sessions and links.
    static let accounts: [ProvokedError] = [
        ProvokedError(
            .authInvalidCredentials,
            "a password without an account",
            "POST",
            "/api/auth/login",
            #"{"email":"nobody@example.com","password":"correct horse battery"}"#
        ),
        ProvokedError(.authTokenMissing, "no token", "GET", "/api/auth/me"),
        ProvokedError(.authTokenInvalid, "a token that is none", "GET", "/api/auth/me", nil, "Authorization: Bearer garbage"),
        ProvokedError(.authTokenExpired, "a token of an hour ago") { provocation in
            let account = try await provocation.account(.active)
            let token = try await provocation.server.server.accounts.tokens.issue(
                for: account,
                session: StoredSession.ID(rawValue: UUID()),
                at: Date(timeIntervalSinceNow: -3_600),
                lifetime: .seconds(900)
            )
            return try await provocation.send("GET", "/api/auth/me", nil, ["Authorization: Bearer \(token)"])
        },
        ProvokedError(.authSessionExpired, "a token of a session that was ended") { provocation in
            let opened = try await provocation.signedIn()
            let out = try await provocation.send("POST", "/api/auth/logout", #"{"refresh_token":"\#(opened.refresh)"}"#)
            #expect(out.status == 204)
            return try await provocation.send("GET", "/api/auth/me", nil, ["Authorization: Bearer \(opened.access)"])
        },
        ProvokedError(
            .authRefreshFailed,
            "a refresh token that is none",
            "POST",
            "/api/auth/refresh",
            #"{"refresh_token":"garbage"}"#
        ),
        ProvokedError(.authUserInactive, "an account that is not in use") { try await $0.signIn(.inactive) },
        ProvokedError(.authUserSuspended, "an account that was suspended") { try await $0.signIn(.suspended) },
        ProvokedError(.authUserSuspended, "an account that its owner locked") { try await $0.signIn(.locked) },
        ProvokedError(.authAccountDeleted, "an account that its user deleted") { provocation in
            try await provocation.signIn(try await provocation.account(.active, purgeAt: Date(timeIntervalSinceNow: 86_400)))
        },
        ProvokedError(.authEmailNotVerified, "an account whose address is not verified") { provocation in
            try await provocation.signIn(try await provocation.account(.active, isEmailVerified: false))
        },
        ProvokedError(.authEmailExists, "an address that has an account") { provocation in
            let account = try await provocation.account(.active)
            let body = #"{"email":"\#(account.email.text)","password":"\#(password)","first_name":"Ana"}"#
            return try await provocation.send("POST", "/api/auth/register", body)
        },
        ProvokedError(
            .authWeakPassword,
            "a short password",
            "POST",
            "/api/auth/register",
            #"{"email":"weak@example.com","password":"short","first_name":"Ana"}"#
        ),
        ProvokedError(.authResetTokenInvalid, "a link that is none", "POST", "/api/validate-reset-token/", #"{"token":"nope"}"#),
    ]
}

extension Provocation {
    /// Adds an account in some state.
    func account(
        _ state: Account.State,
        isEmailVerified: Bool = true,
        purgeAt: Date? = nil
    ) async throws -> Account {
        let account = Account(
            id: Account.ID(rawValue: UUID()),
            email: try EmailAddress("\(state)-\(mark)@example.com"),
            firstName: try FirstName("Ana"),
            passwordHash: try hashing.hash("correct horse battery"),
            state: state,
            language: .english,
            createdAt: Date(),
            isEmailVerified: isEmailVerified,
            purgeAt: purgeAt
        )
        #expect(try await server.server.accounts.stores.accounts.insert(account))
        return account
    }

    /// Signs in to an account in some state with the right password.
    func signIn(_ state: Account.State) async throws -> RawHTTP.Answer { try await signIn(try await account(state)) }

    /// Signs in to an account with the right password.
    func signIn(_ account: Account) async throws -> RawHTTP.Answer {
        try await send(
            "POST",
            "/api/auth/login",
            #"{"email":"\#(account.email.text)","password":"correct horse battery"}"#
        )
    }

    /// Signs in and returns the tokens of the session.
    func signedIn() async throws -> (access: String, refresh: String) {
        let json = try await signIn(.active).json()
        return (try #require(json["access_token"]?.stringValue), try #require(json["refresh_token"]?.stringValue))
    }
}
