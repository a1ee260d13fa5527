import ErrorContract
import Foundation
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ProvokedErrorTests {
    @Test(
        "Every error of the account server reads back equal in every form and language",
        arguments: ErrorForm.allCases
    )
    func table(form: ErrorForm) async throws {
        // The client requests problem details from a server whose default is another form.
        try await Provocation.run(form: form == .problem ? .standard : form) { provocation in
            for (index, error) in ProvokedError.all.enumerated() {
                for language in [Language.english, .spanish] {
                    var provocation = provocation
                    let id = "id-\(form)-\(index)-\(language)"
                    provocation.mark = "\(index)\(language)"
                    provocation.headers = ["Accept-Language: \(language)", "X-Request-Id: \(id)"]
                    if form == .problem { provocation.headers.append("Accept: application/problem+json") }
                    let response = try await error.provoke(provocation)
                    let place: Comment = "\(error.code) by \(error.cause): \(response.text)"
                    let expected = try #require(ErrorCatalogue.standard[error.code])
                    #expect(response.status == expected.status, place)
                    expectInvariants(of: response, code: error.code, form: form, language: language, place)
                    #expect(response["X-Request-Id"] == id, place)
                    try expectRoundTrip(of: response, expected, form: form, language: language, place)
                }
            }
            #expect(provocation.server.log.text.contains("error.type"))
            for secret in ["hunter2", "INSERT INTO"] { #expect(!provocation.server.log.text.contains(secret)) }
        }
    }

    private func expectRoundTrip(
        of response: RawHTTP.Answer,
        _ definition: ErrorDefinition,
        form: ErrorForm,
        language: Language,
        _ place: Comment
    ) throws {
        let error = response.decoded
        #expect(error.status == definition.status, place)
        #expect(error.code == definition.code, place)
        #expect(error.requestID == response["X-Request-Id"], place)
        #expect(error.retryAfter == response["Retry-After"].flatMap { Int($0) }.map { .seconds($0) }, place)
        #expect(error.family.rawValue == (form == .problem ? "contract-problem" : form.rawValue), place)
        let message = try #require(error.message, place)
        if form == .success, definition.code == .authTokenInvalid {
            #expect(message == "Invalid token.")
        } else if !ProvokedErrorTests.textsOfTheirOwn.contains(definition.code) {
            #expect(message == definition.message.text(in: language), place)
        } else {
            #expect(!message.isEmpty, place)
        }
        guard definition.family == .validation, form != .detail else { return }
        #expect(!error.violations.isEmpty, place)
        for violation in error.violations {
            #expect(!violation.field.isEmpty && !violation.message.isEmpty, place)
            guard form == .standard || form == .problem else { continue }
            #expect(violation.pointer == "#/\(violation.field)", place)
            #expect(violation.code?.rawValue.hasPrefix("VALIDATION_") == true, place)
        }
    }

    /// Codes whose texts here contain more than the catalog's.
    private static let textsOfTheirOwn: Set<ErrorCode> = [.rateLimitExceeded, .authWeakPassword, .authUserSuspended]
}
