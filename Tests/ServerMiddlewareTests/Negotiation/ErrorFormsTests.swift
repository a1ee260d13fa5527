import ErrorContract
import HTTPTypes
import Hummingbird
import InMemoryLogging
import Logging
import ServerMiddleware
import StrictJSON
import Testing

@Suite struct ErrorFormsTests {
    private func form(_ forms: ErrorForms, _ path: String = "/", accept: String? = nil, chosen: ErrorForm? = nil) -> ErrorForm {
        var headers: HTTPFields = [:]
        headers[.accept] = accept
        return forms.form(for: .make(.get, path, headers: headers), chosen: chosen)
    }

    @Test(
        "A client that prefers problem details over JSON in Accept gets them",
        arguments: [
            (nil, false), ("*/*", false), ("application/*", false), ("application/json", false), ("text/html", false),
            ("application/problem+json", true), ("application/problem+json, */*", true),
            ("application/json, application/problem+json", true), ("application/problem+json, application/json", true),
            ("application/problem+json;q=0.5", true), ("application/problem+json;q=0.5, application/json;q=0.4", true),
            ("application/problem+json;q=0.5, application/json", false), ("application/problem+json;q=0.5, */*", false),
            ("application/problem+json;q=0.5, application/*;q=0.3, */*", true), ("application/problem+json;q=0", false),
            ("application/problem+json;q=0, application/json;q=0", false), ("text/html, application/problem+json;q=0.1", true),
            ("application/problem+xml", false), ("garbage", false),
        ] as [(String?, Bool)]
    )
    func problems(accept: String?, isProblem: Bool) {
        for usual in ErrorForm.allCases where usual != .problem {
            #expect(form(ErrorForms(usual), accept: accept) == (isProblem ? .problem : usual))
            #expect(form(ErrorForms(), accept: accept, chosen: usual) == (isProblem ? .problem : usual))
        }
    }

    @Test(
        "If problem details are the default, a client that prefers JSON gets standard",
        arguments: [
            (nil, .problem), ("*/*", .problem), ("application/json", .standard), ("application/json, */*;q=0.1", .standard),
            ("application/json;q=0.5, */*", .problem), ("application/json;q=0.1, application/problem+json", .problem),
        ] as [(String?, ErrorForm)]
    )
    func usualProblems(accept: String?, expected: ErrorForm) {
        #expect(form(ErrorForms(.problem), accept: accept) == expected)
    }

    @Test(
        "A path chooses for all paths below it, by the longest match of whole segments",
        arguments: [
            ("/", .standard), ("/reset_password", .success), ("/reset_password/", .success), ("//reset_password//", .success),
            ("/reset_password/x/y", .success), ("/reset_passwords", .standard), ("/x/reset_password", .standard),
            ("/v1", .flat), ("/v1/orders", .flat), ("/v1/old/orders", .detail), ("/v2/old", .standard), ("/V1", .standard),
            ("/v1?reset_password", .flat),
        ] as [(String, ErrorForm)]
    )
    func paths(path: String, expected: ErrorForm) {
        let forms = ErrorForms(below: ["/reset_password/": .success, "/v1": .flat, "v1/old": .detail])
        #expect(form(forms, path) == expected)
        #expect(form(forms, path, chosen: .problem) == .problem)
    }

    @Test("A path without segments chooses for all")
    func root() {
        #expect(form(ErrorForms(below: ["/": .flat]), "/anything") == .flat)
    }

    @Test("A group of routes chooses a form; inner choices win, and Accept wins over all")
    func groups() async throws {
        let router = Router<MemoryContext>.make()
        let outer = router.group("/old").add(middleware: ErrorFormMiddleware(.success))
        outer.get("/a") { _, _ -> Response in throw ContractError(.rateLimitExceeded, retryAfter: .seconds(9)) }
        outer.group("/b").add(middleware: ErrorFormMiddleware(.detail)).get { _, _ -> Response in throw HTTPError(.conflict) }
        router.get("/new") { _, _ -> Response in throw ContractError(.resourceDeleted) }
        let limited = try await router.response(to: .make(.get, "/old/a"))
        #expect(limited.status == .tooManyRequests)
        #expect(limited[header: "Retry-After"] == "9")
        #expect(try limited.json.objectValue?["error_code"] == 429)
        #expect(try await router.response(to: .make(.get, "/old/b")).json.objectValue?.members.map(\.key) == ["detail"])
        #expect(try await router.response(to: .make(.get, "/new")).error["code"] == "RESOURCE_DELETED")
        let asked = try await router.response(to: .make(.get, "/old/a", headers: [.accept: "application/problem+json"]))
        #expect(asked[header: "Content-Type"] == "application/problem+json")
        #expect(try asked.json.objectValue?["code"] == "RATE_LIMIT_EXCEEDED")
    }

    @Test("Logs an unexpected error in such a group by its own type")
    func surprise() async throws {
        struct Trouble: Error {}
        let router = Router<MemoryContext>.make()
        router.group("/old").add(middleware: ErrorFormMiddleware(.success)).get { _, _ -> Response in throw Trouble() }
        let logs = InMemoryLogHandler()
        let response = try await router.response(to: .make(.get, "/old"), context: .make(logs: logs))
        #expect(response.status == .internalServerError)
        #expect(logs.entries.first?.metadata["error.type"] == "Trouble")
    }
}
