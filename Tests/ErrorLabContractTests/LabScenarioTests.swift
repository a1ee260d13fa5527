import ErrorContract
import ErrorLabContract
import Foundation
import Testing

@Suite struct LabScenarioTests {
    @Test("Each scenario has a unique name and describes server and client behavior")
    func described() {
        let all = LabScenario.all()
        #expect(Set(all.map(\.name)).count == all.count)
        for scenario in all {
            #expect(!scenario.expected.isEmpty, "\(scenario.name)")
            #expect(scenario.summary.hasSuffix(".") && scenario.advice.hasSuffix("."), "\(scenario.name)")
            #expect(LabScenario.groups.contains(scenario.group), "\(scenario.name)")
        }
    }

    @Test("There is a scenario for each code, each form and each family")
    func complete() {
        let names = Set(LabScenario.all().map(\.name))
        for definition in ErrorCatalogue.standard.definitions { #expect(names.contains(definition.code.rawValue)) }
        for form in ErrorForm.allCases { #expect(names.contains("\(form.rawValue)-RATE_LIMIT_EXCEEDED")) }
        #expect(LabFamily.all.count >= 48)
        for family in LabFamily.all { #expect(names.contains("family-\(family.name)")) }
    }

    @Test("A scenario's path requests a response that the lab can produce")
    func paths() throws {
        for scenario in LabScenario.all(root: "/lab") {
            let path = scenario.path(session: "s-1")
            #expect(path.hasPrefix("/lab/") && !path.contains("{"), "\(scenario.name)")
            guard path.hasPrefix("/lab/answer?") else { continue }
            let items = try #require(URLComponents(string: path)?.queryItems)
            let response = try LabResponse(parameters: items.map { ($0.name, $0.value ?? "") })
            #expect(response.path(root: "/lab") == path)
        }
    }

    @Test("Describes a sequence call by call, the last entry for all later calls")
    func sequence() throws {
        let scenario = try #require(LabScenario.all().first { $0.name == "third-time-lucky" })
        #expect(scenario.expectation(ofCall: 3) == .success())
        #expect(scenario.expectation(ofCall: 9) == .success())
        #expect(scenario.expectation(ofCall: 1) == scenario.expectation(ofCall: 2))
    }

    @Test("The list survives a JSON round trip")
    func codable() throws {
        let listing = LabListing(scenarios: LabScenario.all())
        let data = try JSONEncoder().encode(listing)
        #expect(try JSONDecoder().decode(LabListing.self, from: data) == listing)
    }

    @Test("A list of a newer server omits only the scenarios that can't be read")
    func newerServer() throws {
        let expected = [LabExpectation.success()]
        let known = LabScenario("known", .limits, "Waits.", advice: "Wait.", path: "/a", credentials: .valid, expected: expected)
        let newer = LabScenario(
            "newer",
            .limits,
            "Waits.",
            advice: "Wait.",
            path: "/b",
            credentials: .revoked,
            expected: expected
        )
        func decoded(_ scenarios: [LabScenario]) throws -> LabListing {
            let json = String(decoding: try JSONEncoder().encode(LabListing(scenarios: scenarios)), as: UTF8.self)
            return try JSONDecoder().decode(LabListing.self, from: Data(json.replacing("\"revoked\"", with: "\"passkey\"").utf8))
        }
        #expect(try decoded([newer, known]).scenarios == [known])
        #expect(try decoded([]).scenarios.isEmpty)
        #expect(throws: DecodingError.self) { try decoded([newer]) }
    }

    @Test("Describes differences from the expected behavior in words")
    func differences() {
        let promise = LabExpectation.failure(
            LabFailure(.rateLimited, .rateLimitExceeded, status: 429, retryAfter: 2...3, fields: ["email"])
        )
        var error = APIError(kind: .rateLimited, code: .rateLimitExceeded)
        (error.status, error.retryAfter, error.requestID) = (429, .milliseconds(2_500), "r")
        error.violations = [FieldViolation(field: "email", message: "")]
        #expect(promise.differences(from: error).isEmpty)
        (error.kind, error.code, error.status) = (.server, .serverTimeout, 504)
        (error.retryAfter, error.requestID, error.violations) = (nil, nil, [])
        #expect(
            promise.differences(from: error) == [
                "the kind is server instead of rateLimited", "the code is SERVER_TIMEOUT instead of RATE_LIMIT_EXCEEDED",
                "the status is 504 instead of 429", "the request id is missing instead of there",
                "the list of fields is [] instead of [\"email\"]", "the delay is none instead of 2 to 3",
            ]
        )
        #expect(!LabExpectation.success().differences(from: error).isEmpty)
        let reply = LabSuccess(method: "GET", attempt: 1, authorized: true)
        #expect(promise.differences(from: reply) == ["the call succeeded"])
        #expect(LabExpectation.success(authorized: false).differences(from: reply) == ["credentials were sent"])
        #expect(LabExpectation.success().differences(from: reply).isEmpty)
    }

    @Test("Accepts a server's timeout in place of the client's only where both can occur")
    func serverTells() throws {
        var error = APIError(kind: .server, code: .serverTimeout)
        (error.status, error.requestID) = (504, "r")
        let accepting = LabScenario.all().filter { scenario in
            scenario.expected.contains { expected in
                if case .failure(let failure) = expected, failure.kind == .timeout {
                    expected.differences(from: error).isEmpty
                } else {
                    false
                }
            }
        }
        #expect(accepting.map(\.name) == ["too-slow"])
        (error.code, error.status) = (.serverServiceUnavailable, 503)
        #expect(accepting.allSatisfy { $0.expected.allSatisfy { !$0.differences(from: error).isEmpty } })
    }

    @Test("Expects no delay where none may be invented")
    func noDelay() {
        let promise = LabExpectation.failure(LabFailure(.rateLimited, .rateLimitExceeded, namesRequest: false))
        var error = APIError(kind: .rateLimited, code: .rateLimitExceeded)
        #expect(promise.differences(from: error).isEmpty)
        error.retryAfter = .zero
        #expect(promise.differences(from: error) == ["the delay is 0 instead of none"])
    }
}
