import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing
import Timekeeping

@Suite("Submissions")
struct SubmissionTests {
    private static let lost = ScriptedTransport.Step.failure(
        TransportError(.connectionLost, message: "reset by peer", wasSent: true)
    )

    /// Returns a client that retries at once.
    private func client(_ steps: [ScriptedTransport.Step]) throws -> (client: AccountClient, transport: ScriptedTransport) {
        let transport = ScriptedTransport(steps)
        let api = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: transport,
            middleware: [RetryMiddleware(RetryPolicy(backoff: Backoff(base: .zero)))],
            environment: ClientEnvironment(clock: MonotonicClock(ManualClock()))
        )
        return (AccountClient(api: api, store: MemoryCredentialStore(try Samples.credentials(1))), transport)
    }

    @Test(
        "Every account mutation sends one idempotency key per submission, also on retries",
        arguments: ["register", "login", "logout", "request-password-reset", "confirm-password-reset"]
    )
    func everyMutation(name: String) async throws {
        var keys: Set<String> = []
        for _ in 0..<2 {
            let isSession = ["register", "login"].contains(name)
            let success = isSession ? Samples.sessionJSON(2) : #"{"success":true,"message":"m"}"#
            let (client, transport) = try client([Self.lost, .response(status: 200, body: success)])
            let (email, password) = (try EmailAddress("ana@example.org"), try Password("p"))
            switch name {
            case "register": _ = try await client.register(email: email, password: password, firstName: try FirstName("Ana"))
            case "login": _ = try await client.signIn(email: email, password: password)
            case "logout": try await client.signOut()
            case "request-password-reset": _ = try await client.requestPasswordReset(email: email)
            default: _ = try await client.confirmReset(try Samples.link(), newPassword: password)
            }
            let sent = transport.sent.map(\.request)
            #expect(sent.count == 2 && sent.allSatisfy { $0.path?.contains(name) == true })
            let fields = sent.compactMap { $0.headerFields[.idempotencyKey] }
            #expect(fields.count == 2 && Set(fields).count == 1)
            let key = try #require(fields.first)
            #expect(key.wholeMatch(of: /"[0-9a-f]{32}"/) != nil, "\(key)")
            #expect(keys.insert(key).inserted, "another submit has another key")
        }
    }

    @Test("A submission that is passed again sends the same key")
    func passedAgain() async throws {
        let fixture = try Fixture(.response(status: 503), .response(status: 200, body: #"{"message":"m"}"#))
        let submission = Submission(idempotencyKey: "submit-1")
        let email = try EmailAddress("ana@example.org")
        let error = await failure { _ = try await fixture.client.requestPasswordReset(email: email, submission: submission) }
        #expect(error?.status == 503)
        _ = try await fixture.client.requestPasswordReset(email: email, submission: submission)
        #expect(fixture.transport.sent.map { $0.request.headerFields[.idempotencyKey] } == [#""submit-1""#, #""submit-1""#])
    }

    @Test(
        "A submission may have taken effect after a request without a response",
        arguments: [
            ([lost], true), ([.failure(TransportError(.timeout, message: "x", wasSent: true))], true),
            ([.failure(TransportError(.unreachable, message: "x", wasSent: false))], false),
            ([.failure(TransportError(.noInternet, message: "x", wasSent: false))], false),
            ([.response(status: 502)], true), ([.response(status: 504)], true), ([.response(status: 500)], true),
            ([.response(status: 503)], false), ([.response(status: 429)], false),
            ([.response(status: 400, body: Samples.errorJSON(.authWeakPassword))], false),
            ([.response(status: 200, body: #"{"success":false,"error":"no"}"#)], false),
            ([.response(status: 200, body: "[1")], true),
            ([lost, .response(status: 400, body: Samples.errorJSON(.authResetTokenInvalid))], true),
            ([.response(status: 503), .response(status: 400, body: Samples.errorJSON(.authResetTokenInvalid))], false),
            ([lost, .failure(TransportError(.noInternet, message: "x", wasSent: false))], true),
        ] as [([ScriptedTransport.Step], Bool)]
    )
    func mayHaveTakenEffect(steps: [ScriptedTransport.Step], expected: Bool) async throws {
        // The last step is repeated for each retry.
        let last = try #require(steps.last)
        let (client, _) = try client(steps + Array(repeating: last, count: 4))
        let submission = Submission()
        #expect(!submission.mayHaveTakenEffect)
        let error = await failure {
            _ = try await client.confirmReset(try Samples.link(), newPassword: try Password("p"), submission: submission)
        }
        #expect(error != nil)
        #expect(submission.mayHaveTakenEffect == expected)
    }

    @Test("A key that does not fit a quoted string fails a precondition", arguments: ["", "a\"b", "a\\b", "a b", "ñ"])
    func impossibleKey(key: String) async {
        await #expect(processExitsWith: .failure) { [key] in
            _ = Submission(idempotencyKey: key)
        }
    }
}

@Suite("Registration with a lost response")
struct LostRegistrationTests {
    private static let lost = ScriptedTransport.Step.failure(
        TransportError(.connectionLost, message: "reset by peer", wasSent: true)
    )
    private static let exists = ScriptedTransport.Step.response(status: 400, body: Samples.errorJSON(.authEmailExists))
    private static let session = ScriptedTransport.Step.response(status: 200, body: Samples.sessionJSON(1))

    private func register(_ fixture: Fixture, _ submission: Submission) async throws -> RegistrationResult {
        try await fixture.client.register(
            email: try EmailAddress("ana@example.org"),
            password: try Password("pass word"),
            firstName: try FirstName("Ana"),
            submission: submission
        )
    }

    @Test("Register with a lost response: AUTH_EMAIL_EXISTS signs in with the same password")
    func signsIn() async throws {
        let fixture = try Fixture(Self.lost, Self.exists, Self.session)
        let submission = Submission()
        let lost = await failure { _ = try await register(fixture, submission) }
        #expect(lost?.kind == .network && lost?.recovery == .retry)
        let user = try await register(fixture, submission)
        #expect(user.user?.firstName == "Ana")
        #expect(fixture.sent.last == #"POST /api/auth/login {"email":"ana@example.org","password":"pass word"}"#)
        #expect(fixture.sent.count == 3)
        #expect(try await fixture.store.load() == Samples.credentials(1))
    }

    @Test("Register with a lost response shows AUTH_EMAIL_EXISTS for a different password")
    func otherPassword() async throws {
        let wrong = ScriptedTransport.Step.response(status: 401, body: Samples.errorJSON(.authInvalidCredentials))
        let fixture = try Fixture(Self.lost, Self.exists, wrong)
        let submission = Submission()
        _ = await failure { _ = try await register(fixture, submission) }
        let error = await failure { _ = try await register(fixture, submission) }
        #expect(error?.code == .authEmailExists && error?.context == "user_register")
        #expect(await fixture.store.load() == nil)
    }

    @Test("Throws another failure of the sign-in, and the next try signs in")
    func signInFails() async throws {
        let fixture = try Fixture(Self.lost, Self.exists, .response(status: 503), Self.exists, Self.session)
        let submission = Submission()
        _ = await failure { _ = try await register(fixture, submission) }
        #expect(await failure { _ = try await register(fixture, submission) }?.status == 503)
        _ = try await register(fixture, submission)
        #expect(try await fixture.store.load() == Samples.credentials(1))
    }

    @Test("Without a lost response, AUTH_EMAIL_EXISTS does not sign in", arguments: [nil, 503, 429])
    func nothingLost(status: Int?) async throws {
        let first = status.map { [ScriptedTransport.Step.response(status: $0)] } ?? []
        let fixture = try Fixture(first + [Self.exists])
        let submission = Submission()
        if status != nil { _ = await failure { _ = try await register(fixture, submission) } }
        #expect(await failure { _ = try await register(fixture, submission) }?.code == .authEmailExists)
        #expect(fixture.sent.allSatisfy { $0.hasPrefix("POST /api/auth/register") })
        #expect(await fixture.store.load() == nil)
    }

    @Test("A response lost for another submission does not sign in")
    func otherSubmission() async throws {
        let fixture = try Fixture(Self.lost, Self.exists)
        _ = await failure { _ = try await register(fixture, Submission()) }
        #expect(await failure { _ = try await register(fixture, Submission()) }?.code == .authEmailExists)
        #expect(fixture.sent.count == 2)
    }
}
