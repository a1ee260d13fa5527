import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

/// A response of a server that does not use the contract, and the call that got it.
struct ForeignSituation: Sendable, CustomTestStringConvertible {
    /// A request to a real server; situations without one are written from the server's documentation.
    struct Call: Sendable {
        var method: HTTPRequest.Method = .get
        var path: String
        var body: String?
        var contentType = "application/json"
        /// The file of the server's folder that holds the access token to send.
        var token: String?
        /// How many times the request is sent before it is refused.
        var earlier = 0
    }

    var server: String
    var title: String
    var call: Call?
    var isSignIn = false
    var sendsCredentials = false
    var serverTextLanguage: Language?
    var status: Int
    /// The headers that affect the text.
    var headers: HTTPFields = [:]
    var body: String
    /// The body for users of other languages, where the server translates it.
    var translations: [Language: String] = [:]

    var testDescription: String { "\(server): \(title)" }

    func body(in language: Language) -> String { translations[language] ?? body }

    /// Returns the language that the server names for users of a language.
    func contentLanguage(in language: Language) -> String? {
        headers[.contentLanguage].map { translations[language] == nil ? $0 : language.rawValue }
    }
}

extension ForeignSituation {
    /// 2025-11-04T10:30:00Z
    static let now = Date(timeIntervalSince1970: 1_762_252_200)

    static let all = django + fastAPI + nginx + fieldApps + frameworks + services + edges

    /// Returns the presentation for a user of the app, from the documented response.
    func shown(in language: Language) async -> ErrorPresentation? {
        var headers = headers
        headers[.contentLanguage] = contentLanguage(in: language)
        let step = ScriptedTransport.Step.response(status: status, headers: headers, body: body(in: language))
        return await shown(in: language, by: ScriptedTransport([step]), at: "https://api.example.org", path: "/a", headers: [:])
    }

    /// Returns the presentation for a user of the app after a call through `APIClient`.
    func shown(
        in language: Language,
        by transport: some HTTPTransport,
        at base: String,
        path: String,
        headers: HTTPFields
    ) async -> ErrorPresentation? {
        guard let url = URL(string: base) else { return nil }
        var client = APIClient(
            baseURL: url,
            transport: transport,
            language: language,
            middleware: [],
            environment: ClientEnvironment(wallClock: { Self.now })
        )
        client.serverTextLanguage = serverTextLanguage
        // The real servers share a busy machine with other tests.
        (client.timeout, client.attemptTimeout) = (.seconds(300), .seconds(300))
        var headers = headers
        if sendsCredentials, headers[.authorization] == nil { headers[.authorization] = "Bearer token" }
        let body = call?.body.map { RequestBody(Array($0.utf8), contentType: call?.contentType ?? "application/json") }
        do throws(APIError) {
            _ = try await client.send(call?.method ?? .get, path, body: body, headers: headers)
            return nil
        } catch {
            return (isSignIn ? error.refusingSignIn() : error).presentation(in: language, now: Self.now)
        }
    }
}
