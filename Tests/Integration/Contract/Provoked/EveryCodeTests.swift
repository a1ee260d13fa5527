import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import ServerMiddleware
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// An app on a socket whose routes throw the requested errors.
@Suite struct EveryCodeTests {
    private struct Meeting: Decodable {
        let start: Date
        let page: URL
    }

    private func withThrowingApp(form: ErrorForm = .standard, _ body: (URL) async throws -> Void) async throws {
        let renderer = ContractErrorRenderer(forms: ErrorForms(form), pages: "/errors")
        let router = ContractRouter(context: BasicContractContext.self, renderer: renderer)
        router.get("/throw/:code") { _, context -> Response in
            throw Self.error(ErrorCode(try context.parameters.require("code")))
        }
        router.get("/conflict") { _, _ -> Response in throw HTTPError(.conflict, message: "row 7 of INSERT INTO account") }
        router.get("/gone") { _, _ -> Response in throw HTTPError(.gone) }
        router.post("/meeting") { request, context in
            _ = try await request.decode(as: Meeting.self, context: context)
            return HTTPResponse.Status.ok
        }
        router.get("/trouble") { _, _ -> Response in throw ScriptedHashing.Trouble() }
        router.get("/fine") { _, _ in "fine" }
        try await withApplication { logger, listening in
            Application(
                router: router,
                server: .contractHTTP1(renderer: renderer),
                configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { listening($0.localAddress?.port ?? 0) },
                logger: logger
            )
        } _: { url in
            try await body(url)
        }
    }

    private static func error(_ code: ErrorCode) -> ContractError {
        let definition = ErrorCatalogue.standard[code]
        var error = ContractError(code, details: ["hint": ["of": 7]])
        if [429, 503].contains(definition?.status) { error.retryAfter = .milliseconds(89_001) }
        if definition?.family == .validation {
            error.problems = [
                .init(path: FieldPath([.member("items"), .element(1), .member("na/me")]), code: code),
                .init(path: FieldPath([.member("email")]), code: .validationInvalidEmail),
            ]
        }
        return error
    }

    @Test(
        "Reads back every code of the catalog in every form and two languages",
        arguments: ErrorForm.allCases
    )
    func everyCode(form: ErrorForm) async throws {
        try await withThrowingApp(form: form) { url in
            for definition in ErrorCatalogue.standard.definitions {
                for language in [Language.english, .spanish] {
                    let response = try await RawHTTP.send(
                        "GET",
                        "/throw/\(definition.code)",
                        to: url,
                        headers: ["Accept-Language: \(language)"]
                    )
                    let place: Comment = "\(response.text)"
                    expectInvariants(of: response, code: definition.code, form: form, language: language, place)
                    let error = response.decoded
                    #expect(error.status == definition.status, place)
                    #expect(error.code == definition.code, place)
                    #expect(error.requestID == response["X-Request-Id"], place)
                    #expect(error.retryAfter == ([429, 503].contains(definition.status) ? .seconds(90) : nil), place)
                    let isLiteral = form == .success && definition.code == .authTokenInvalid
                    #expect(error.message == (isLiteral ? "Invalid token." : message(of: definition, in: language)), place)
                    if form == .standard || form == .flat || form == .problem {
                        #expect(error.details["hint"] == ["of": 7], place)
                    }
                    #expect(error.violations == violations(of: definition, form: form, language: language), place)
                }
            }
        }
    }

    private func message(of definition: ErrorDefinition, in language: Language) -> String {
        let text = definition.status == 429 ? ContractText.limited(wait: .seconds(90)) : definition.message
        return text.text(in: language)
    }

    private func violations(of definition: ErrorDefinition, form: ErrorForm, language: Language) -> [FieldViolation] {
        guard definition.family == .validation, form != .detail else { return [] }
        let email = ErrorCatalogue.standard[.validationInvalidEmail]?.message.text(in: language) ?? ""
        let all = [
            FieldViolation(
                field: "items[1].na/me",
                pointer: "#/items/1/na~1me",
                code: definition.code,
                message: definition.message.text(in: language)
            ),
            FieldViolation(field: "email", pointer: "#/email", code: .validationInvalidEmail, message: email),
        ]
        guard form == .flat || form == .success else { return all }
        return all.map { FieldViolation(field: $0.field, message: $0.message) }
    }

    @Test("Provokes codes that only other apps' routes can emit with such routes")
    func otherApps() async throws {
        try await withThrowingApp { url in
            var provoked: Set<ErrorCode> = []
            for (path, code) in [("/conflict", ErrorCode.resourceAlreadyExists), ("/gone", .resourceDeleted)] {
                let response = try await RawHTTP.send("GET", path, to: url)
                expectInvariants(of: response, code: code, form: .standard, language: .english, "\(response.text)")
                provoked.insert(code)
            }
            for (body, code) in [
                (#"{"start":"2026-02-30T10:00:00Z","page":"https://example.com"}"#, ErrorCode.validationInvalidDate),
                (#"{"start":"2026-02-20T10:00:00Z","page":"not an address"}"#, .validationInvalidURL),
            ] {
                let headers = ["Content-Type: application/json"]
                let response = try await RawHTTP.send("POST", "/meeting", to: url, headers: headers, body: Array(body.utf8))
                expectInvariants(of: response, code: code, form: .standard, language: .english, "\(response.text)")
                #expect(response.decoded.violations.count == 1)
                provoked.insert(code)
            }
            #expect(provoked == EmittedCodesTests.ofOtherApps)
        }
    }

    @Test("Reports only a code, whatever a route throws", arguments: ErrorForm.allCases)
    func trouble(form: ErrorForm) async throws {
        try await withThrowingApp(form: form) { url in
            let response = try await RawHTTP.send("GET", "/trouble", to: url)
            expectInvariants(of: response, code: .serverInternalError, form: form, language: .english, "\(response.text)")
        }
    }

    @Test("An error to HEAD has the headers of GET, but no body; the connection stays open", arguments: ErrorForm.allCases)
    func head(form: ErrorForm) async throws {
        try await withThrowingApp(form: form) { url in
            for path in ["/throw/RATE_LIMIT_EXCEEDED", "/nothing", "/throw/VALIDATION_INVALID_URL"] {
                let get = try await RawHTTP.send("GET", path, to: url, headers: ["X-Request-Id: r"])
                let head = try await RawHTTP.send("HEAD", path, to: url, headers: ["X-Request-Id: r"])
                let date = "date:"
                #expect(
                    head.headerLines.filter { !$0.lowercased().hasPrefix(date) }
                        == get.headerLines.filter { !$0.lowercased().hasPrefix(date) }
                )
                #expect(head.status == get.status && head.body.isEmpty && !get.body.isEmpty)
                let two = "HEAD \(path) HTTP/1.1\r\nHost: x\r\n\r\nGET /fine HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                let both = try await RawHTTP.exchangeToEnd(Array(two.utf8), with: url)
                let parts = both.components(separatedBy: "\r\n\r\n")
                #expect(parts.count == 3 && parts[1].hasPrefix("HTTP/1.1 200") && parts[2] == "fine", "\(both)")
            }
        }
    }

    @Test(
        "Echoes a valid request id, replaces another, and repeats it in the body",
        arguments: ErrorForm.allCases
    )
    func requestIDs(form: ErrorForm) async throws {
        try await withThrowingApp(form: form) { url in
            for (id, isSane) in [("abc-1.2_X", true), ("a b", false), ("<x>", false), (String(repeating: "a", count: 65), false)]
            {
                let response = try await RawHTTP.send("GET", "/nothing", to: url, headers: ["X-Request-Id: \(id)"])
                let given = try #require(response["X-Request-Id"])
                #expect((given == id) == isSane)
                #expect(response.decoded.requestID == given)
                if form == .standard || form == .flat || form == .problem { #expect(response.text.contains("\"\(given)\"")) }
            }
        }
    }
}
