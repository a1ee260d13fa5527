import AccountContract
import ErrorContract
import Testing

@testable import OpenAPI

@Suite struct APIDescriptionTests {
    private let everything = APIDescription(settings: .everything)

    @Test(
        "Every operation has a unique name, method and path, and a URL-safe name",
        arguments: APISettings.Registration.allCases
    )
    func names(registration: APISettings.Registration) {
        var settings = APISettings.everything
        settings.registration = registration
        let operations = APIDescription(settings: settings).operations
        #expect(Set(operations.map(\.id)).count == operations.count)
        #expect(Set(operations.map { "\($0.method.rawValue) \($0.path)" }).count == operations.count)
        for operation in operations {
            #expect(operation.id.wholeMatch(of: /[a-z][A-Za-z0-9]*/) != nil, "\(operation.id)")
            #expect(!operation.summary.isEmpty && !operation.about.isEmpty, "\(operation.id)")
            #expect(!operation.responses.isEmpty || !operation.ownCodes.isEmpty, "\(operation.id)")
        }
    }

    @Test("Every code of an operation is in the catalog")
    func codes() {
        for operation in everything.operations {
            let named = operation.ownCodes + (operation.request.map { Array($0.codes) } ?? [])
            for code in named { #expect(ErrorCatalogue.standard[code] != nil, "\(operation.id) \(code)") }
            #expect(Set(named).isSubset(of: operation.codes(.everything)), "\(operation.id)")
            #expect(operation.codes(.everything).contains(.serverInternalError))
        }
    }

    @Test("Describes refusals by a limit only where a limit is enforced")
    func limits() throws {
        let limited = everything.operations.filter { $0.codes(.everything).contains(.rateLimitExceeded) }
        let keyed = [
            "logout", "changeEmail", "requestVerification", "verifyEmail", "confirmEmail", "undoEmail", "keepAccount",
            "requestPasswordReset", "confirmPasswordReset", "legacyPasswordReset",
        ]
        #expect(limited.map(\.id) == keyed + ["sendRequestForm"])
        let unlimited = APIDescription(settings: .production)
        #expect(unlimited.operations.filter { $0.codes(.production).contains(.rateLimitExceeded) }.map(\.id) == keyed)
    }

    @Test("Does not describe routes that a configuration does not serve")
    func served() {
        let all = Set(everything.operations.map(\.path))
        let some = Set(APIDescription(settings: .production).operations.map(\.path))
        #expect(
            all.subtracting(some) == [
                "/.well-known/apple-app-site-association", "/.well-known/assetlinks.json", "/dev/mailbox", "/dev/mailbox/{id}",
            ]
        )
    }

    @Test("Describes no start page, health, metrics or error lab of an app")
    func partOfApp() {
        var settings = APISettings.everything
        settings.servesMetrics = true
        let alone = APIDescription(settings: settings)
        settings.isPartOfApp = true
        let mounted = APIDescription(settings: settings)
        let missing = Set(alone.operations.map(\.path)).subtracting(mounted.operations.map(\.path))
        #expect(missing == ["/", "/health/live", "/health/ready", "/metrics"])
        let texts = mounted.groups.map(\.about.markdown) + [mounted.introduction.markdown]
        #expect(!texts.contains { $0.contains("/dev/lab") || $0.contains("RESOURCE_NOT_FOUND") })
    }

    @Test(
        "Finds an operation by a request, with and without a trailing slash",
        arguments: [
            ("POST", "/api/auth/login", "login"), ("POST", "/api/auth/login/", "login"),
            ("POST", "/api/validate-reset-token", "validateResetToken"), ("GET", "/dev/mailbox/17", "mail"),
            ("PATCH", "/api/auth/me", "updateMe"), ("GET", "/api/auth/me", "me"),
            ("DELETE", "/api/auth/sessions", "endOtherSessions"),
            ("DELETE", "/api/auth/sessions/17/", "endSession"), ("GET", "/api/auth/sessions/17", nil),
            ("GET", "/verify-email", "openVerifyPage"), ("GET", "/reset-password", "openResetPage"),
            ("POST", "/reset-password/", "sendResetForm"),
            ("GET", "/api/auth/login", nil), ("POST", "/api/auth", nil), ("GET", "/dev/mailbox/1/2", nil),
        ]
    )
    func lookup(method: String, path: String, id: String?) {
        #expect(everything.operation(method, path)?.id == id)
    }

    @Test(
        "Describes a limit in the largest exact unit",
        arguments: [
            (3_600, "1 hour"), (7_200, "2 hours"), (900, "15 minutes"), (60, "1 minute"), (90, "90 seconds"), (1, "1 second"),
        ]
    )
    func limitWords(seconds: Int, words: String) {
        let limit = APISettings.Limit(.resetEmail, quota: 3, window: .seconds(seconds))
        #expect(limit.words == "At most 3 in \(words) (`reset-email`).")
    }
}
