import AccountContract
import AccountKit
import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import HoldfastTesting
import HoldfastURLSession
import RateLimiting
import ResilientHTTP
import StrictJSON
import Testing
import Timekeeping

/// Runs the examples of "Getting started" of each library for apps, which the catalogs `*.docc` show.
@Suite struct AppGuideTests {
    private let url = URL(string: "https://notes.example.com") ?? URL(filePath: "/")

    @Test("ErrorContract: decodes an error response and presents it")
    func errorContract() {
        // snippet: start-error-contract
        let body = #"{"error":{"code":"RATE_LIMIT_EXCEEDED","message":"Too many attempts","details":{"retry_after":60}}}"#
        let decoded = ErrorDecoder().decode(status: 429, headers: [.retryAfter: "60"], body: body.utf8, now: Date())
        let error = APIError(decoded)
        let shown = error.presentation(in: .spanish, now: Date())
        print(error.code, shown.title, shown.message)
        // snippet end
        #expect(error.code == .rateLimitExceeded)
        #expect(shown.title == "Demasiados intentos")
    }

    @Test("RateLimiting: refuses the fourth call and reports the exact delay")
    func rateLimiting() {
        let clock = ManualClock()
        // snippet: start-rate-limiting
        let limiter = KeyedRateLimiter<String, ManualClock>(policy: .requests(3, per: .seconds(60)), clock: clock)
        for _ in 1...3 { print(limiter.admit("ana")) }
        switch limiter.admit("ana") {
        case .admitted(let remaining): print("\(remaining) remaining")
        case .refused(let retryAfter): print("Retry in \(retryAfter)")
        case .impossible: print("The cost exceeds the quota")
        }
        // snippet end
        #expect(limiter.admit("ana") == .refused(retryAfter: .seconds(60)))
        #expect(limiter.admit("bea").isAdmitted)
    }

    @Test("AccountContract: reads an address and a reset link, and refuses others")
    func accountContract() throws {
        let opened = try #require(
            URL(string: "https://notes.example.com/reset-password?token=\(String(repeating: "a", count: 43))")
        )
        // snippet: start-account-contract
        let email = try EmailAddress(" Ana@Example.com ")
        let link = try ResetLink(opened, hosts: ["notes.example.com"], scheme: "com.example.notes")
        let request = ConfirmPasswordResetRequest(token: link.token, newPassword: try Password("correct horse battery"))
        // snippet end
        #expect(email == (try EmailAddress("ana@example.com")))
        #expect(request.token == link.token)
        #expect(throws: ResetLink.Refusal.self) { try ResetLink(opened, hosts: ["other.example.com"]) }
    }

    @Test("ErrorLabContract: describes a failure as a path, and lists the scenarios")
    func errorLabContract() {
        // snippet: start-error-lab-contract
        let answer = LabResponse(.code(.rateLimitExceeded), retryAfter: .seconds(2), times: 1, session: "checkout-test")
        print(answer.path())
        for scenario in LabScenario.all() { print(scenario.group, scenario.name) }
        // snippet end
        #expect(answer.path().hasPrefix("/dev/lab/"))
        #expect(LabScenario.all().count > 10)
    }

    @Test("ResilientHTTP: retries an operation after a transient failure")
    func resilientHTTP() async throws {
        let transport = ScriptedTransport([
            .response(status: 503, headers: [.retryAfter: "0"]), .response(status: 200, body: #"{"title":"Buy bread"}"#),
        ])
        struct Note: Decodable, Sendable { var title: String }
        let url = url
        // snippet: start-resilient-http
        let api = APIClient(baseURL: url, transport: transport, middleware: ClientPipeline.standard())
        let note: Note = try await api.get("/api/notes/1")
        print(note.title)
        // snippet end
        #expect(note.title == "Buy bread")
        #expect(transport.sent.count == 2)
    }

    @Test("AccountKit: signs in with the model of a screen")
    @MainActor
    func accountKit() async throws {
        let transport = ScriptedTransport([.failure(TransportError(.noInternet, message: "", wasSent: false))])
        // snippet: start-account-kit
        let accounts = AccountClient(api: APIClient(baseURL: url, transport: transport, language: .spanish, middleware: []))
        let model = SignInModel(client: accounts, language: .spanish)
        model.email = "ana@example.com"
        model.password = "correct horse battery"
        await model.submit()
        print(model.state, model.currentAlert?.presentation.message ?? "")
        // snippet end
        #expect(model.currentAlert != nil)
    }

    @Test("StrictJSON: reads a member, writes a value, and refuses a key that occurs twice")
    func strictJSON() throws {
        // snippet: start-strict-json
        let note = try JSONParser().parse(#"{"title":"Buy bread","id":9007199254740993}"#.utf8)
        print(note.objectValue?["title"]?.stringValue ?? "There is no title")
        let written: JSONValue = ["note": note, "done": false]
        print(String(decoding: written.encoded(), as: UTF8.self))
        do {
            _ = try JSONParser().parse(#"{"id":1,"id":2}"#.utf8)
        } catch {
            print(error)
        }
        // snippet end
        #expect(
            String(decoding: written.encoded(), as: UTF8.self)
                == #"{"note":{"title":"Buy bread","id":9007199254740993},"done":false}"#
        )
        #expect(throws: JSONSyntaxError.self) { try JSONParser().parse(#"{"id":1,"id":2}"#.utf8) }
    }

    @Test("Timekeeping: measures a duration and reads a date")
    func timekeeping() {
        // snippet: start-timekeeping
        let clock = MonotonicClock(ContinuousClock())
        let start = clock.now
        print("\((clock.now - start).wholeSecondsRoundedUp) seconds")
        let seconds = HTTPDate.seconds("Sun, 06 Nov 1994 08:49:37 GMT", now: nil)
        print(HTTPDate.text(784_111_777))
        // snippet end
        #expect(seconds == 784_111_777)
        #expect(HTTPDate.text(784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(clock.now >= start)
    }
}
