import AccountContract
import AccountKit
import ErrorContract
import ResilientHTTP
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct SessionStoryTests {
    @Test("A refresh gives a new pair, and the old access token is valid until it expires")
    func refresh() async throws {
        try await withServer { server in
            let client = server.client()
            _ = try await client.register(
                email: try EmailAddress("ana@example.com"),
                password: try Password("correct horse battery"),
                firstName: try FirstName("Ana")
            )
            try await client.refresh()
            #expect(try await client.me().firstName == "Ana")
            #expect(try await client.me().email == EmailAddress("ana@example.com"))
        }
    }

    @Test("A sign-out ends the session for its access token, too")
    func signOut() async throws {
        try await withServer { server in
            let store = MemoryCredentialStore()
            let client = AccountClient(api: server.client().api, store: store)
            try await server.register("ana@example.com")
            _ = try await client.signIn(
                email: try EmailAddress("ana@example.com"),
                password: try Password("correct horse battery")
            )
            let stolen = await store.load()
            try await client.signOut()
            // Two separate clients, because a client removes a session that the server reports as ended.
            let (one, other) = (
                AccountClient(api: client.api, store: MemoryCredentialStore(stolen)),
                AccountClient(api: client.api, store: MemoryCredentialStore(stolen))
            )
            await #expect { try await one.me() } throws: { ($0 as? APIError)?.code == .authSessionExpired }
            await #expect { try await other.refresh() } throws: { ($0 as? APIError)?.code == .authRefreshFailed }
        }
    }

    @Test("An address can be registered once, whatever its case")
    func registerTwice() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let again = server.client()
            let (email, name) = (try EmailAddress("ANA@example.com"), try FirstName("Ana"))
            let password = try Password("correct horse battery")
            await #expect { try await again.register(email: email, password: password, firstName: name) } throws: { error in
                (error as? APIError)?.code == .authEmailExists && (error as? APIError)?.status == 400
            }
        }
    }

    @Test(
        "The Authorization header determines how the caller is refused",
        arguments: [
            (nil, "AUTH_TOKEN_MISSING"), ("Bearer", "AUTH_TOKEN_INVALID"), ("Basic YTpi", "AUTH_TOKEN_INVALID"),
            ("Bearer a b", "AUTH_TOKEN_INVALID"), ("Bearer garbage", "AUTH_TOKEN_INVALID"),
            ("Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.", "AUTH_TOKEN_INVALID"),
        ] as [(String?, String)]
    )
    func authorization(field: String?, code: String) async throws {
        try await withServer { server in
            let headers = field.map { ["Authorization: \($0)"] } ?? []
            let response = try await RawHTTP.send("GET", "/api/auth/me", to: server.url, headers: headers)
            #expect(response.status == 401)
            #expect(response["X-Error-Code"] == code)
        }
    }
}
