import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import HoldfastURLSession
import ResilientHTTP
import Testing

/// Generates and checks the table of `docs/app/foreign-servers.md`.
///
/// After an intended change: `UPDATE_DOCS=1 swift test --traits Server --filter ForeignServersPageTests`, then review the difference.
@Suite("docs/app/foreign-servers.md")
struct ForeignServersPageTests {
    private static let page = ForeignServer.root.appending(path: "docs/app/foreign-servers.md")
    private static let begin = "<!-- table: made by ForeignServersPageTests -->\n"
    private static let end = "<!-- table end -->"

    @Test("The page shows exactly the texts that Spanish and English users see")
    func upToDate() async throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(text.range(of: Self.begin)).upperBound
        let stop = try #require(text.range(of: Self.end, range: start..<text.endIndex)).lowerBound
        let table = await Self.table()
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] != nil {
            let renewed = text.replacingCharacters(in: start..<stop, with: table)
            try renewed.write(to: Self.page, atomically: true, encoding: .utf8)
        } else {
            let command = "UPDATE_DOCS=1 swift test --traits Server --filter ForeignServersPageTests"
            #expect(String(text[start..<stop]) == table, "run \(command)")
        }
    }

    @Test("The examples of the page show a Spanish backend's text and a refused sign-in")
    func examples() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:1"))
        // snippet: foreign-server-texts
        var api = APIClient(baseURL: url, language: .spanish)
        api.serverTextLanguage = .spanish
        // snippet end
        #expect(api.serverTextLanguage == .spanish)
        let refused = ScriptedTransport([.response(status: 401, body: #"{"detail":"No active account found"}"#)])
        api = APIClient(baseURL: url, transport: refused, language: .spanish, middleware: [])
        var tokens: [String: String]?
        var shown: ErrorPresentation?
        let credentials = ["username": "ana", "password": "wrong"]
        // snippet: foreign-server-sign-in
        do throws(APIError) {
            tokens = try await api.post("/api/token/", credentials, context: "user_login")
        } catch {
            shown = error.refusingSignIn().presentation(in: .spanish, now: .now)
        }
        // snippet end
        #expect(tokens == nil && shown?.message == "Correo o contraseña incorrectos")
    }

    @Test("The page has at least 40 situations, each named once")
    func complete() {
        #expect(ForeignSituation.all.count >= 40)
        #expect(Set(ForeignSituation.all.map(\.testDescription)).count == ForeignSituation.all.count)
    }

    @Test(
        "No text is in an unknown or other language or reports a false expired session",
        arguments: ForeignSituation.all
    )
    func safe(situation: ForeignSituation) async throws {
        for language in Language.supported {
            let shown = try #require(await situation.shown(in: language))
            if !situation.sendsCredentials {
                #expect(shown.title != ContractText.sessionExpiredTitle.text(in: language))
                #expect(!shown.message.contains(ContractText.sessionExpired.text(in: language)))
            }
            if situation.isSignIn, situation.status == 401 {
                #expect(shown.message == ErrorCatalogue.standard[.authInvalidCredentials]?.message.text(in: language))
            }
            let server = [shown.message] + shown.fields.map(\.text)
            let isServerLanguage = situation.serverTextLanguage == language || situation.headers[.contentLanguage] != nil
            for text in server where !isServerLanguage {
                #expect(text.count < 3 || !situation.body.contains(text) || Self.isOwn(text, in: language), "\(text)")
            }
            if let wait = situation.headers[.retryAfter].flatMap({ Int($0) }), situation.status == 429 {
                let phrases = [WaitPhrase(.seconds(wait)), WaitPhrase(count: wait, unit: .seconds)].map {
                    $0.text.text(in: language)
                }
                #expect(phrases.contains { shown.message.contains($0) }, "\(shown.message)")
            }
        }
    }

    /// Returns whether a text of a server is also a text of the library.
    private static func isOwn(_ text: String, in language: Language) -> Bool {
        ErrorCatalogue.standard.definitions.contains { $0.message.text(in: language) == text }
    }

    private static func table() async -> String {
        var lines = ["| server | situation | response | a Spanish user sees | an English user sees |", "|---|---|---|---|---|"]
        for situation in ForeignSituation.all {
            let cells = [
                situation.server + (situation.call == nil ? "" : " ✓"), situation.title + situation.setting, situation.response,
                await seen(situation, .spanish), await seen(situation, .english),
            ]
            lines.append("| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Title, message, the problems at the fields, and the buttons.
    private static func seen(_ situation: ForeignSituation, _ language: Language) async -> String {
        guard let shown = await situation.shown(in: language) else { return "nothing: the call succeeds" }
        var lines = ["**\(shown.title)**", shown.message]
        lines += shown.fields.map { "*\($0.field.isEmpty ? "(whole input)" : $0.field):* \($0.text)" }
        if let reference = shown.supportReference { lines.append(reference.text(in: language)) }
        let labels = [shown.primaryLabel(in: language), shown.secondaryLabel(in: language)].compactMap(\.self)
        lines.append(labels.map { "[\($0)]" }.joined(separator: " "))
        return lines.joined(separator: "<br>")
    }
}

extension ForeignSituation {
    fileprivate var setting: String {
        var notes: [String] = []
        if let serverTextLanguage { notes.append("`serverTextLanguage: \(serverTextLanguage)`") }
        if isSignIn { notes.append("sign-in") }
        if sendsCredentials { notes.append("with a token") }
        return notes.isEmpty ? "" : "<br>(\(notes.joined(separator: ", ")))"
    }

    /// Status, headers and the start of the body.
    fileprivate var response: String {
        var lines = ["\(status)"]
        for field in headers { lines.append("`\(field.name): \(field.value)`") }
        let text = body.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }.joined()
        let isCut = text.count > 150
        if !text.isEmpty { lines.append("`\(text.prefix(150))\(isCut ? "…" : "")`") } else { lines.append("(empty)") }
        return lines.joined(separator: "<br>")
    }
}
