import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import InMemoryLogging
import Logging
import ServerMiddleware
import StrictJSON
import Testing

@Suite struct ContractErrorMiddlewareTests {
    /// Returns the response to a request whose route throws.
    private func response(
        throwing error: any Error,
        renderer: ContractErrorRenderer = ContractErrorRenderer(),
        language: String? = nil
    ) async throws -> CollectedResponse {
        let router = Router<MemoryContext>.make(renderer: renderer)
        router.get("/") { _, _ -> Response in throw error }
        var headers: HTTPFields = [:]
        headers[.acceptLanguage] = language
        return try await router.response(to: .make(.get, "/", headers: headers))
    }

    @Test("An unknown route gets a contract error with every header")
    func unknownRoute() async throws {
        let now = Date(timeIntervalSince1970: 1_762_252_200)
        let renderer = ContractErrorRenderer(now: { now })
        let response = try await Router<MemoryContext>.make(renderer: renderer).response(to: .make(.get, "/unknown"))
        #expect(response.status == .notFound)
        #expect(response[header: "Content-Type"] == "application/json; charset=utf-8")
        #expect(response[header: "Content-Language"] == "en")
        #expect(response[header: "Cache-Control"] == "no-store")
        #expect(response[header: "X-Error-Code"] == "RESOURCE_NOT_FOUND")
        #expect(response[header: "Retry-After"] == nil)
        let expected: JSONObject = [
            "code": "RESOURCE_NOT_FOUND",
            "message": .string(try #require(ErrorCatalogue.standard[.resourceNotFound]).message.text(in: .english)),
            "details": [:],
            "timestamp": "2025-11-04T10:30:00Z",
            "request_id": .string(try #require(response[header: "X-Request-Id"])),
        ]
        #expect(try response.error == expected)
    }

    @Test("A refusal for missing credentials names the scheme, unless the route did")
    func challenge() async throws {
        let missing = ContractError(.authTokenMissing)
        #expect(try await response(throwing: missing)[header: "WWW-Authenticate"] == "Bearer")
        var other = missing
        other.headers[.wwwAuthenticate] = #"Basic realm="files""#
        #expect(try await response(throwing: other)[header: "WWW-Authenticate"] == #"Basic realm="files""#)
        #expect(try await response(throwing: ContractError(.resourceNotFound))[header: "WWW-Authenticate"] == nil)
    }

    @Test("An unexpected error is an internal error that reveals nothing")
    func surprise() async throws {
        struct SecretTrouble: Error, LocalizedError, CustomStringConvertible {
            let description = "SELECT password FROM account at /srv/holdfast.swift"
            var errorDescription: String? { description }
        }
        for error in [SecretTrouble() as any Error, CancellationError(), CocoaError(.fileNoSuchFile)] {
            let response = try await response(throwing: error)
            #expect(response.status == .internalServerError)
            #expect(response[header: "X-Error-Code"] == "SERVER_INTERNAL_ERROR")
            let everything = response.text + response.headers.map { "\($0.name): \($0.value)" }.joined()
            for leak in ["SELECT", "srv", "SecretTrouble", "Cancellation", "Cocoa", "swift", "Error Domain"] {
                #expect(!everything.contains(leak))
            }
            #expect(try response.error["details"] == [:])
        }
    }

    @Test("Logs an unexpected error's type with the request's id, and no refusals")
    func log() async throws {
        struct Trouble: Error {
            let secret = "hunter2"
        }
        let router = Router<MemoryContext>.make()
        router.get("/surprise") { _, _ -> Response in throw Trouble() }
        router.get("/refusal") { _, _ -> Response in throw ContractError(.authTokenInvalid) }
        let logs = InMemoryLogHandler()
        let response = try await router.response(to: .make(.get, "/surprise"), context: .make(logs: logs))
        let entry = try #require(logs.entries.first)
        #expect(entry.level == .error)
        #expect(entry.metadata["error.type"] == "Trouble")
        #expect(entry.metadata["hb.request.id"] == response[header: "X-Request-Id"].map { .string($0) })
        #expect(!"\(entry)".contains("hunter2"))
        _ = try await router.response(to: .make(.get, "/refusal"), context: .make(logs: logs))
        #expect(logs.entries.count == 1)
    }

    @Test("Logs an app's own code as an error only if the app gave it status 500", arguments: [(423, 0), (500, 1)])
    func ownCodeInLog(status: Int, lines: Int) async throws {
        let own = ErrorDefinition(
            ErrorCode("NOTE_LOCKED"),
            family: ErrorFamily(rawValue: "NOTE"),
            status: status,
            summary: "Note is locked",
            userAction: "Unlock the note first",
            message: LocalizedText(en: "Locked", es: "Locked", he: "Locked", pt: "Locked", fr: "Locked", de: "Locked")
        )
        let router = Router<MemoryContext>.make(
            renderer: ContractErrorRenderer(catalogue: try ErrorCatalogue.standard.adding([own]))
        )
        router.get("/") { _, _ -> Response in throw ContractError(own.code) }
        let logs = InMemoryLogHandler()
        #expect(try await router.response(to: .make(.get, "/"), context: .make(logs: logs)).status.code == status)
        #expect(logs.entries.count == lines)
    }

    @Test(
        "Translates a framework's error by its status, without its message",
        arguments: [
            (400, "REQUEST_MALFORMED", 400), (401, "AUTH_TOKEN_INVALID", 401), (402, "REQUEST_MALFORMED", 400),
            (403, "RESOURCE_FORBIDDEN", 403), (404, "RESOURCE_NOT_FOUND", 404), (405, "REQUEST_METHOD_NOT_ALLOWED", 405),
            (408, "REQUEST_TIMEOUT", 408), (409, "RESOURCE_ALREADY_EXISTS", 409), (410, "RESOURCE_DELETED", 410),
            (413, "REQUEST_TOO_LARGE", 413), (415, "REQUEST_UNSUPPORTED_MEDIA_TYPE", 415), (418, "REQUEST_MALFORMED", 400),
            (422, "REQUEST_MALFORMED", 400), (429, "RATE_LIMIT_EXCEEDED", 429), (500, "SERVER_INTERNAL_ERROR", 500),
            (501, "SERVER_INTERNAL_ERROR", 500), (503, "SERVER_SERVICE_UNAVAILABLE", 503), (504, "SERVER_TIMEOUT", 504),
            (200, "SERVER_INTERNAL_ERROR", 500), (302, "SERVER_INTERNAL_ERROR", 500), (599, "SERVER_INTERNAL_ERROR", 500),
        ]
    )
    func frameworkErrors(status: Int, code: String, sent: Int) async throws {
        let response = try await response(throwing: HTTPError(.init(code: status), message: "internal detail"))
        #expect(response[header: "X-Error-Code"] == code)
        #expect(response.status.code == sent)
        #expect(try response.error["code"] == .string(code))
        #expect(!response.text.contains("internal detail"))
    }

    @Test("Every code of the catalog has its status and its text in every language")
    func catalogue() async throws {
        for definition in ErrorCatalogue.standard.definitions {
            for language in Language.supported {
                let response = try await response(throwing: ContractError(definition.code), language: language.rawValue)
                #expect(response.status.code == definition.status)
                #expect(response[header: "X-Error-Code"] == definition.code.rawValue)
                #expect(response[header: "Content-Language"] == language.rawValue)
                #expect(try response.error["message"] == .string(definition.message.text(in: language)))
            }
        }
    }

    @Test(
        "Sends a delay in whole seconds, rounded up, in the header and in the body",
        arguments: [
            (Duration.seconds(3_600), 3_600), (.milliseconds(1), 1), (.milliseconds(1_001), 2), (.zero, 0), (.seconds(-5), 0),
            (.nanoseconds(59_000_000_001), 60),
        ],
        [ErrorCode.rateLimitExceeded, .serverServiceUnavailable]
    )
    func retryAfter(_ wait: (Duration, Int), code: ErrorCode) async throws {
        let response = try await response(throwing: ContractError(code, retryAfter: wait.0))
        #expect(response[header: "Retry-After"] == "\(wait.1)")
        #expect(try response.error["details"] == ["retry_after": .integer(Int64(wait.1))])
    }

    @Test(
        "Retry-After is that of the framework's error, else five seconds",
        arguments: [(429, [:], "5"), (503, [:], "5"), (503, [.retryAfter: "7"], "7"), (500, [:], nil)]
            as [(Int, HTTPFields, String?)]
    )
    func frameworkWait(status: Int, headers: HTTPFields, wait: String?) async throws {
        let response = try await response(throwing: HTTPError(.init(code: status), headers: headers))
        #expect(response.headers[.retryAfter] == wait)
        #expect(response.text.contains("\"retry_after\":") == (wait != nil))
    }

    @Test("Keeps headers of the framework's errors, except those of its unsent body")
    func frameworkHeaders() async throws {
        let headers: HTTPFields = [
            .wwwAuthenticate: "Basic", .contentType: "text/plain", .contentLength: "7", .eTag: "x", .vary: "Origin",
        ]
        let response = try await response(throwing: HTTPError(.unauthorized, headers: headers, message: "detail"))
        #expect(response.headers[.wwwAuthenticate] == "Basic")
        #expect(response.headers[.contentType] == "application/json; charset=utf-8")
        #expect(response.headers[values: .contentLength] == ["\(response.body.count)"])
        #expect(response.headers[.eTag] == nil)
        #expect(response.headers[.vary] == "Origin, Accept, Accept-Language")
        let redirect = try await self.response(throwing: HTTPError(.found, headers: [.location: "/secret"]))
        #expect(redirect.status == .internalServerError && redirect.headers[.location] == nil)
    }

    @Test("The message of a limit contains the delay in words")
    func limitMessage() async throws {
        let error = ContractError(.rateLimitExceeded, retryAfter: .seconds(3_598))
        #expect(
            try await response(throwing: error, language: "es").error["message"]
                == "Demasiadas solicitudes. Intenta de nuevo en 1 hora."
        )
        #expect(try await response(throwing: error).error["message"] == "Too many requests. Please try again in 1 hour.")
    }

    @Test("Passes on an error's own text, details and headers")
    func facts() async throws {
        var error = ContractError(
            .authWeakPassword,
            message: LocalizedText(en: "Too weak", es: "Muy débil"),
            details: ["reasons": ["too_short"]]
        )
        error.headers[.wwwAuthenticate] = "Bearer"
        let response = try await response(throwing: error, language: "es")
        #expect(try response.error["message"] == "Muy débil")
        #expect(try response.error["details"] == ["reasons": ["too_short"]])
        #expect(response[header: "WWW-Authenticate"] == "Bearer")
    }

    @Test(
        "The language is the user's preferred one, else the server's",
        arguments: [
            (nil, "en"), ("es", "es"), ("es-MX,en;q=0.5", "es"), ("it, es;q=0.8, en;q=0.9", "en"), ("it", "en"), ("*", "en"),
            ("en;q=0, es;q=0.1", "es"), ("garbage;;;,,", "en"), ("ES", "es"), ("pt-BR", "pt"), ("iw", "he"),
            ("he-IL,he;q=0.9,en;q=0.8", "he"), ("de-AT;q=0.5, fr", "fr"), ("de-AT, fr;q=0.5", "de"),
        ] as [(String?, String)]
    )
    func language(header: String?, language: String) async throws {
        let response = try await response(throwing: ContractError(.resourceNotFound), language: header)
        #expect(response[header: "Content-Language"] == language)
        let message = ErrorCatalogue.standard[.resourceNotFound]?.message.text(in: Language(language))
        #expect(try response.error["message"] == message.map { .string($0) })
    }

    @Test("A server uses an app's own language if its catalog has texts in it")
    func ownLanguage() async throws {
        let italian = Translations(
            Language("it"),
            [
                "We could not find what you were looking for.": "Non abbiamo trovato nulla.", "{count} hours": "{count} h",
                "Too many requests. Please try again in {wait}.": "Troppe richieste. Riprova tra {wait}.",
            ]
        )
        let renderer = ContractErrorRenderer(
            catalogue: .standard.saying(italian),
            localization: Localization(supported: Language.supported + [Language("it")])
        )
        let missing = try await response(throwing: ContractError(.resourceNotFound), renderer: renderer, language: "it-IT")
        #expect(missing[header: "Content-Language"] == "it")
        #expect(try missing.error["message"] == "Non abbiamo trovato nulla.")
        let limit = ContractError(.rateLimitExceeded, retryAfter: .seconds(7_200))
        let limited = try await response(throwing: limit, renderer: renderer, language: "it")
        #expect(try limited.error["message"] == "Troppe richieste. Riprova tra 2 h.")
    }

    @Test("Uses the server's own default language if the user has no preference")
    func defaultLanguage() async throws {
        let renderer = ContractErrorRenderer(localization: Localization(fallback: .spanish))
        let response = try await response(throwing: ContractError(.resourceNotFound), renderer: renderer, language: "it")
        #expect(response[header: "Content-Language"] == "es")
    }

    @Test("An app's own code has its defined response, an undefined one a 500")
    func otherCodes() async throws {
        let own = ErrorDefinition(
            ErrorCode("CONTENT_LOCKED"),
            family: .content,
            status: 423,
            summary: "Locked",
            userAction: "Wait",
            message: LocalizedText(en: "Locked", es: "Bloqueado")
        )
        let renderer = ContractErrorRenderer(catalogue: try ErrorCatalogue.standard.adding([own]))
        let known = try await response(throwing: ContractError(ErrorCode("CONTENT_LOCKED")), renderer: renderer)
        #expect(known.status.code == 423)
        #expect(try known.error["message"] == "Locked")
        let unknown = try await response(throwing: ContractError(ErrorCode("STRANGE_THING")))
        #expect(unknown.status.code == 500)
        #expect(unknown[header: "X-Error-Code"] == "STRANGE_THING")
    }

    @Test("Passes on successes unchanged")
    func success() async throws {
        let router = Router<MemoryContext>.make()
        router.get("/") { _, _ in "fine" }
        let response = try await router.response(to: .make())
        #expect(response.status == .ok && response.text == "fine")
        #expect(response[header: "X-Error-Code"] == nil && response[header: "Content-Language"] == nil)
    }
}
