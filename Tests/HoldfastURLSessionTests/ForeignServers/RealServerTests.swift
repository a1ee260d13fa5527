import ErrorContract
import Foundation
import HTTPTypes
import HoldfastURLSession
import ResilientHTTP
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Runs the servers themselves, to prove that the page of foreign servers describes real responses.
@Suite("Real third-party servers", .timeLimit(.minutes(10)))
struct RealServerTests {
    @Test("Django REST framework with SimpleJWT responds and is shown as on the page")
    func django() async throws {
        try await ForeignServer.with(ForeignServer.python("django_server")) { try await check(ForeignSituation.django, at: $0) }
    }

    @Test("FastAPI with slowapi responds and is shown as on the page")
    func fastAPI() async throws {
        try await ForeignServer.with(ForeignServer.python("fastapi_server")) { try await check(ForeignSituation.fastAPI, at: $0) }
    }

    @Test("nginx responds and is shown as on the page")
    func nginx() async throws {
        try await ForeignServer.with(ForeignServer.nginx) { try await check(ForeignSituation.nginx, at: $0) }
    }

    private func check(_ situations: [ForeignSituation], at server: ForeignServer) async throws {
        #expect(situations.count >= 5)
        for situation in situations {
            let call = try #require(situation.call)
            var headers: HTTPFields = [:]
            if let file = call.token { headers[.authorization] = "Bearer \(try server.text(of: file))" }
            for _ in 0..<call.earlier { _ = try await response(to: situation, in: .english, at: server, headers) }
            for language in [Language.spanish, .english] {
                var (response, body) = try await self.response(to: situation, in: language, at: server, headers)
                // If the machine pauses for the window of a limit, the server admits one more request.
                while call.earlier > 0, response.statusCode == 200 {
                    (response, body) = try await self.response(to: situation, in: language, at: server, headers)
                }
                #expect(response.statusCode == situation.status, "\(situation)")
                #expect(body == situation.body(in: language), "\(situation)")
                for name in [HTTPField.Name.retryAfter, .contentLanguage] {
                    let (sent, written) = (response.value(forHTTPHeaderField: name.rawName), situation.headers[name])
                    #expect(
                        Self.agree(sent, name == .contentLanguage ? situation.contentLanguage(in: language) : written),
                        "\(situation)"
                    )
                }
                var shown: ErrorPresentation?
                repeat {
                    shown = await situation.shown(
                        in: language,
                        by: URLSessionTransport(),
                        at: server.base,
                        path: call.path,
                        headers: headers
                    )
                } while call.earlier > 0 && shown == nil
                let promised = await situation.shown(in: language)
                #expect(shown != nil && shown?.message == promised?.message && shown?.title == promised?.title, "\(situation)")
                #expect(shown?.fields == promised?.fields, "\(situation)")
                #expect(shown?.primaryLabel(in: language) == promised?.primaryLabel(in: language), "\(situation)")
                #expect(shown?.secondaryLabel(in: language) == promised?.secondaryLabel(in: language), "\(situation)")
            }
        }
    }

    /// Returns whether two values of a header agree. A delay of an hour may have become some seconds shorter.
    private static func agree(_ sent: String?, _ written: String?) -> Bool {
        guard let sent, let written, let left = Int(sent), let right = Int(written) else { return sent == written }
        return left <= right && left > right - (right >= 3_600 ? 60 : 1)
    }

    /// Sends the request of a situation without using this library.
    private func response(
        to situation: ForeignSituation,
        in language: Language,
        at server: ForeignServer,
        _ headers: HTTPFields
    ) async throws -> (HTTPURLResponse, String) {
        let call = try #require(situation.call)
        var request = URLRequest(url: try #require(URL(string: server.base + call.path)))
        request.httpMethod = call.method.rawValue
        request.setValue(language.rawValue, forHTTPHeaderField: "Accept-Language")
        for field in headers { request.setValue(field.value, forHTTPHeaderField: field.name.rawName) }
        if situation.sendsCredentials, headers[.authorization] == nil {
            request.setValue("Bearer token", forHTTPHeaderField: "Authorization")
        }
        if let body = call.body {
            request.httpBody = Data(body.utf8)
            request.setValue(call.contentType, forHTTPHeaderField: "Content-Type")
        }
        let (data, response) = try await Self.session.data(for: request)
        return (try #require(response as? HTTPURLResponse), String(decoding: data, as: UTF8.self))
    }

    private static let session = URLSession(configuration: .ephemeral)
}
