// snippet: testing-imports
import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import GettingStarted

// snippet end

/// Runs the examples of `docs/app/testing.md`.
// snippet: testing-suite
@MainActor
@Suite struct NotesTests {
    private let clock = ManualClock()

    /// A client whose server responds from a script, and whose waits end when the test moves the clock.
    private func client(_ transport: ScriptedTransport) throws -> APIClient {
        APIClient(
            baseURL: try #require(URL(string: "https://notes.example.com")),
            transport: transport,
            environment: ClientEnvironment(clock: MonotonicClock(clock), chance: { 0 })
        )
    }

    @Test("Shows the notes")
    func notes() async throws {
        let transport = ScriptedTransport([.response(status: 200, body: #"[{"id":1,"title":"Buy bread"}]"#)])
        let model = NotesModel(api: try client(transport))
        await model.load()
        #expect(model.notes == [Note(id: 1, title: "Buy bread")])
        #expect(transport.sent.map(\.request.path) == ["/api/notes"])
    }
}
// snippet end

// snippet: testing-failure
extension NotesTests {
    @Test("Shows how long a limit lasts, in the user's language")
    func limit() async throws {
        var api = try client(ScriptedTransport([.response(status: 429, headers: [.retryAfter: "120"])]))
        api.language = .spanish
        let model = NotesModel(api: api)
        await model.load()
        #expect(model.isFailureShown)
        #expect(model.failure?.title == "Demasiados intentos")
        #expect(model.failure?.message.contains("2 minutos") == true)
    }

    @Test("Keeps the notes while the device is offline")
    func offline() async throws {
        let offline = ScriptedTransport.Step.failure(TransportError(.noInternet, message: "", wasSent: false))
        let notes = ScriptedTransport.Step.response(status: 200, body: #"[{"id":1,"title":"Buy bread"}]"#)
        let transport = ScriptedTransport([notes, offline, offline, offline, offline])
        let model = NotesModel(api: try client(transport))
        await model.load()
        await model.load()
        #expect(model.notes.count == 1)
        #expect(model.failure?.primary == .retry)
        #expect(transport.sent.count == 5)
    }
}
// snippet end

// snippet: testing-clock
extension NotesTests {
    @Test("Waits as long as the server asks, then loads the notes")
    func wait() async throws {
        let transport = ScriptedTransport([
            .response(status: 429, headers: [.retryAfter: "5"]),
            .response(status: 200, body: #"[{"id":1,"title":"Buy bread"}]"#),
        ])
        let model = NotesModel(api: try client(transport))
        async let loaded: Void = model.load()
        await clock.waitForSleepers()
        #expect(transport.sent.count == 1)
        clock.advance(by: .seconds(5))
        await loaded
        #expect(transport.sent.count == 2)
        #expect(model.notes.count == 1)
    }
}
// snippet end

// snippet: testing-screens
extension NotesTests {
    @Test("Signs in and stores the session")
    func signIn() async throws {
        let session = #"{"access_token":"a","refresh_token":"r","user":{"id":"1","first_name":"Ana"}}"#
        let transport = ScriptedTransport([.response(status: 401), .response(status: 200, body: session)])
        let store = MemoryCredentialStore()
        let model = SignInModel(client: AccountClient(api: try client(transport), store: store), language: .english)
        (model.email, model.password) = ("ana@example.com", "a wrong password")
        await model.submit()
        #expect(model.alert?.message == "Invalid email or password")
        model.password = "correct horse battery"
        await model.submit()
        #expect(await store.load()?.accessToken == "a")
    }
}
// snippet end

// snippet: testing-server
@Suite struct ConnectionTests {
    @Test("Reads a response that a real connection carries")
    func realConnection() async throws {
        let body = #"[{"id":1,"title":"Buy bread"}]"#
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        let server = try LoopbackServer([.respond(head + body)])
        let api = APIClient(baseURL: try #require(URL(string: server.origin)))
        let notes: [Note] = try await api.get("/api/notes")
        #expect(notes.count == 1)
        #expect(server.received.first?.header("Accept-Language") == "en")
        await server.close()
    }
}
// snippet end
