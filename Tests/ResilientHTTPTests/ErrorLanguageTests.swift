import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Testing
import Timekeeping

@testable import ResilientHTTP

/// The facts that a client adds to its errors for their texts.
@Suite("Errors with the language of their client")
struct ErrorLanguageTests {
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    private func client(
        _ steps: ScriptedTransport.Step...,
        language: Language = .spanish,
        session: Session? = nil
    ) throws -> APIClient {
        APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: ScriptedTransport(steps),
            language: language,
            session: session,
            middleware: []
        )
    }

    private static let refused = ScriptedTransport.Step.response(status: 401, body: #"{"detail":"No active account found"}"#)

    @Test("A 401 to a request without credentials is never an expired session")
    func withoutCredentials() async throws {
        let client = try client(Self.refused)
        let error = try #require(await failure { _ = try await client.send(.get, "/me") })
        #expect(error.sentCredentials == false)
        #expect(error.presentation(in: .spanish, now: Self.now).title == "Error")
        #expect(error.localizedDescription == "Por favor, inicia sesión para continuar.")
    }

    @Test("A 401 to a request with credentials is an expired session", arguments: [HTTPField.Name.authorization, .cookie])
    func withCredentials(name: HTTPField.Name) async throws {
        let client = try client(Self.refused)
        let error = try #require(await failure { _ = try await client.send(.get, "/me", headers: [name: "x"]) })
        #expect(error.sentCredentials == true)
        #expect(error.presentation(in: .spanish, now: Self.now).title == "Sesión expirada")
    }

    @Test("A refused refresh is an expired session, though its request has no Authorization")
    func refusedRefresh() async throws {
        let refreshing = try client(Self.refused)
        let session = Session(
            store: MemoryCredentialStore(Credentials(accessToken: "a", refreshToken: "r", expiresAt: .distantPast)),
            refresh: { _ in
                try await refreshing.post("/refresh", ["refresh": "r"])
                return Credentials(accessToken: "b", refreshToken: nil)
            }
        )
        let client = try client(Self.refused, session: session)
        let error = try #require(await failure { _ = try await client.send(.get, "/me") })
        #expect(error.presentation(in: .spanish, now: Self.now).title == "Sesión expirada")
        #expect(error.sentCredentials == true)
    }

    @Test("A user who never signed in gets a request to sign in, not an expired session")
    func neverSignedIn() async throws {
        let session = Session(store: MemoryCredentialStore(), refresh: { _ in Credentials(accessToken: "b", refreshToken: nil) })
        let client = try client(Self.refused, session: session)
        let error = try #require(await failure { _ = try await client.send(.get, "/me") })
        let shown = error.presentation(in: .english, now: Self.now)
        #expect(shown.title == "Error" && shown.message == "Please sign in to continue." && shown.primary == .signIn)
    }

    @Test("serverTextLanguage shows the backend's texts to users of that language")
    func serverTextLanguage() async throws {
        let step = ScriptedTransport.Step.response(
            status: 400,
            body: #"{"success":false,"errors":[{"field":"email","message":"Ese correo no existe."}]}"#
        )
        var client = try client(step, step)
        let unknown = await failure { [client] in _ = try await client.send(.get, "/a") }
        #expect(unknown?.localizedDescription == "Por favor, revisa los campos marcados.")
        client.serverTextLanguage = .spanish
        let known = await failure { [client] in _ = try await client.send(.get, "/a") }
        #expect(known?.localizedDescription == "Ese correo no existe.")
    }

    @Test("localizedDescription has the language and the texts of the client")
    func localizedDescription() async throws {
        let lost = ScriptedTransport.Step.failure(TransportError(.unreachable, message: "refused", wasSent: false))
        let german = try client(lost, language: .german)
        let error: any Error = try #require(await failure { _ = try await german.send(.get, "/a") })
        #expect(error.localizedDescription == "Überprüfe deine Internetverbindung")
        let words = Translations(Language("it"), ["Check your internet connection": "Controlla la connessione"])
        let italian = APIClient(
            baseURL: try #require(URL(string: "https://api.example.org")),
            transport: ScriptedTransport([lost]),
            language: Language("it"),
            middleware: [],
            catalogue: ErrorCatalogue.standard.saying(words)
        )
        let own: any Error = try #require(await failure { _ = try await italian.send(.get, "/a") })
        #expect(own.localizedDescription == "Controlla la connessione")
    }

    @Test("A gate closed by a 429 repeats the server's limit, by a 503 the unavailability")
    func closedGates() async throws {
        for (status, text) in [
            (429, "Demasiadas solicitudes. Intenta de nuevo en 30 segundos."),
            (503, "El servicio no está disponible. Intenta de nuevo en 36 segundos."),
        ] {
            let clock = ManualClock()
            let client = APIClient(
                baseURL: try #require(URL(string: "https://api.example.org")),
                transport: ScriptedTransport([.response(status: status, headers: [.retryAfter: "30"])]),
                language: .spanish,
                middleware: [GateMiddleware()],
                environment: ClientEnvironment(clock: MonotonicClock(clock), chance: { 0 })
            )
            _ = await failure { _ = try await client.send(.get, "/a") }
            let held = await failure { _ = try await client.send(.get, "/a") }
            #expect(held?.localizedDescription == text)
            #expect(held?.isHeldLocally == true && held?.attempts == 0)
        }
    }
}
