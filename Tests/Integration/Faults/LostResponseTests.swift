import AccountContract
import AccountKit
import AccountServer
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastAsyncHTTPClient
import HoldfastTesting
import ResilientHTTP
import Testing

/// Responses that are lost between the account server and an app, after the server has done its work.
@Suite(.timeLimit(.minutes(15))) struct LostResponseTests {
    /// Whether the client retries a lost request automatically, or the user does.
    private static let retries = [RetryPolicy.never, RetryPolicy(backoff: Backoff(base: .zero))]
    private static let cuts = [0, 1, 200].map { FaultProxy.Cut(place: .response, bytes: $0, isReset: true) }

    /// An app in front of a server, with a proxy between them that cuts connections.
    private func withApp(
        _ retry: RetryPolicy,
        honorsKeys: Bool = true,
        time: ServerTime? = nil,
        _ body: @escaping @Sendable (_ server: TestServer, _ proxy: FaultProxy, _ client: AccountClient) async throws -> Void
    ) async throws {
        try await withServer(time: time) { server in
            try await FaultProxy.run(before: server.url.port ?? 0, keepsHeadsWhole: false) { proxy, port in
                let transport: any HTTPTransport = .asyncHTTPClient()
                // Removes the keys from requests, to simulate a server without idempotency.
                let keyless = ClosureTransport { request, body, timeout in
                    var request = request
                    request.headerFields[.idempotencyKey] = nil
                    return try await transport.send(request, body: body, timeout: timeout)
                }
                var api = APIClient(
                    baseURL: try #require(URL(string: "http://127.0.0.1:\(port)")),
                    transport: honorsKeys ? transport : keyless,
                    timeout: .seconds(240),
                    middleware: [RetryMiddleware(retry)]
                )
                // A slow machine must not end an attempt before the proxy cuts it.
                api.attemptTimeout = .seconds(120)
                try await body(server, proxy, AccountClient(api: api))
            }
        }
    }

    @MainActor
    private func openedReset(_ server: TestServer, _ client: AccountClient) async throws -> ResetPasswordModel {
        try await server.register("ana@example.com")
        let link = try await server.resetLink(for: "ana@example.com")
        let model = ResetPasswordModel(link: link, client: client, language: .spanish)
        await model.open()
        try #require(model.state == .editing)
        (model.password, model.confirmation) = ("another horse battery", "another horse battery")
        return model
    }

    @Test("A lost response to a successful confirm is a success", arguments: retries, cuts)
    @MainActor
    func confirm(retry: RetryPolicy, cut: FaultProxy.Cut) async throws {
        try await withApp(retry) { @MainActor server, proxy, client in
            let model = try await openedReset(server, client)
            proxy.arm([cut])
            await model.submit()
            #expect(proxy.seen.cuts == 1)
            if retry == .never {
                #expect(model.alert?.primary == .retry, "\(model.state)")
                await model.perform(.retry)
            }
            #expect(model.state == .succeeded(email: try EmailAddress("ana@example.com")))
            let signIn = model.makeSignInModel()
            signIn.password = "another horse battery"
            await signIn.submit()
            guard case .signedIn = signIn.state else {
                Issue.record("\(signIn.state)")
                return
            }
            let confirmations = try await server.mails(atLeast: 2).count
            #expect(confirmations == 2, "the reset email and one confirmation")
        }
    }

    @Test("Without idempotency, a confirm refused after a lost response offers sign-in", arguments: retries)
    @MainActor
    func confirmWithoutKeys(retry: RetryPolicy) async throws {
        try await withApp(retry, honorsKeys: false) { @MainActor server, proxy, client in
            let model = try await openedReset(server, client)
            proxy.arm([FaultProxy.Cut(place: .response, bytes: 0, isReset: true)])
            await model.submit()
            if retry == .never { await model.perform(.retry) }
            #expect(model.deadLink?.message == "Intenta iniciar sesión con tu nueva contraseña", "\(model.state)")
            #expect(await model.perform(.signIn) == .signIn)
            let signIn = model.makeSignInModel()
            signIn.password = "another horse battery"
            await signIn.submit()
            guard case .signedIn = signIn.state else {
                Issue.record("\(signIn.state)")
                return
            }
        }
    }

    @Test("Register with a lost response signs in with the same password", arguments: retries, cuts)
    func register(retry: RetryPolicy, cut: FaultProxy.Cut) async throws {
        try await withApp(retry) { server, proxy, client in
            let submission = Submission()
            let (email, password) = (try EmailAddress("ana@example.com"), try Password("correct horse battery"))
            let name = try FirstName("Ana")
            let register = {
                try await client.register(email: email, password: password, firstName: name, submission: submission)
            }
            proxy.arm([cut])
            if retry == .never {
                await #expect { try await register() } throws: { ($0 as? APIError)?.recovery == .retry }
            }
            let user = try #require(try await register().user)
            #expect(user.email == email && proxy.seen.cuts == 1)
            #expect(try await client.me() == user)
        }
    }

    @Test("Register with a lost response reports a registered address on another password")
    func registerTaken() async throws {
        try await withApp(.never) { server, proxy, client in
            try await server.register("ana@example.com")
            let submission = Submission()
            let (email, password) = (try EmailAddress("ana@example.com"), try Password("a password of Eve"))
            proxy.arm([FaultProxy.Cut(place: .response, bytes: 0, isReset: true)])
            for expected in [nil, ErrorCode.authEmailExists] {
                await #expect {
                    try await client.register(
                        email: email,
                        password: password,
                        firstName: try FirstName("Eve"),
                        submission: submission
                    )
                } throws: { error in
                    expected == nil || (error as? APIError)?.code == expected
                }
            }
            await #expect { try await client.me() } throws: { ($0 as? APIError)?.code == .authTokenMissing }
        }
    }

    @Test("A reset request with a lost response sends one email")
    func request() async throws {
        try await withApp(RetryPolicy(backoff: Backoff(base: .zero))) { server, proxy, client in
            try await server.register("ana@example.com")
            proxy.arm([FaultProxy.Cut(place: .response, bytes: 0, isReset: true)])
            _ = try await client.requestPasswordReset(email: try EmailAddress("ana@example.com"))
            #expect(proxy.seen.cuts == 1)
            // A second request has another key: it sends the second email, and there is no third.
            _ = try await client.requestPasswordReset(email: try EmailAddress("ana@example.com"))
            #expect(try await server.mails(atLeast: 2).count == 2)
        }
    }

    @Test("A refresh with a lost response is retried, and the session continues")
    func refresh() async throws {
        // The server accepts a used token again within ten seconds. Its clock stands still, because a slow machine needs longer.
        let time = ServerTime.manual(ManualClock(), from: Date())
        try await withApp(RetryPolicy(backoff: Backoff(base: .zero)), time: time) { server, proxy, client in
            try await server.register("ana@example.com")
            _ = try await client.signIn(
                email: try EmailAddress("ana@example.com"),
                password: try Password("correct horse battery")
            )
            proxy.arm([FaultProxy.Cut(place: .response, bytes: 0, isReset: true)])
            try await client.refresh()
            #expect(proxy.seen.cuts == 1)
            try await client.refresh()
            #expect(try await client.me().firstName == "Ana")
        }
    }
}
