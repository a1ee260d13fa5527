import Foundation
import Holdfast
import HoldfastTesting
import Testing

/// Everything in this file but the test's own tools is available through `import Holdfast`.
@Suite struct UmbrellaTests {
    struct Note: Codable, Equatable, Sendable {
        var title: String
    }

    @Test("One import and three lines make a call")
    func threeLines() async throws {
        let body = #"[{"title":"Shabat"}]"#
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
        let server = try LoopbackServer([.respond(head + body)])
        let url = try #require(URL(string: server.origin))
        // snippet: three-lines
        let api = APIClient(baseURL: url)
        let notes: [Note] = try await api.get("/notes")
        print(notes.map(\.title))
        // snippet end
        #expect(notes == [Note(title: "Shabat")])
        await server.close()
    }

    @Test("One import has all client types, and those of HTTPTypes in their parameters")
    func types() async throws {
        let transport = ScriptedTransport([
            .response(status: 200, headers: [.eTag: "\"1\""], body: "{}"),
            .response(status: 429, headers: [.retryAfter: "7"]),
        ])
        var policies = EndpointPolicies()
        policies.set(EndpointPolicy(retry: .never), for: "/notes", method: .put)
        let session = Session(store: MemoryCredentialStore(Credentials(accessToken: "t", refreshToken: nil))) { _ in
            Credentials(accessToken: "u", refreshToken: nil)
        }
        let api = APIClient(
            baseURL: try #require(URL(string: "https://api.example.com")),
            transport: transport,
            language: .spanish,
            session: session,
            policies: policies
        )
        let method: HTTPRequest.Method = .put
        let headers: HTTPFields = [.accept: "application/json"]
        let (response, _) = try await api.send(method, "/notes", headers: headers)
        #expect(response.status == .ok && response.headerFields[.eTag] == "\"1\"")
        do throws(APIError) {
            _ = try await api.send(method, "/notes")
            Issue.record("The second call must fail")
        } catch {
            #expect(error.retryAfter == .seconds(7) && error.code == .rateLimited)
            #expect(error.presentation(in: .spanish, now: Date()).message.contains("7 segundos"))
        }
        #expect(RateLimitPolicy.requests(3, per: .seconds(60), name: "minute").quota == 3)
        #expect(try EmailAddress("ana@example.com").text == "ana@example.com")
        _ = AccountClient(api: api).session
    }
}
