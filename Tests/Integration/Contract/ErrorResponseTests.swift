import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ErrorResponseTests {
    @Test("Reports all problems of a request at once, in the user's language")
    func allProblems() async throws {
        try await withServer { server in
            let response = try await server.post(
                "/api/auth/register",
                #"{"email":"nope","password":null,"first_name":5}"#,
                headers: ["Accept-Language: es-MX, en;q=0.5"]
            )
            #expect(response.status == 400)
            #expect(response["Content-Language"] == "es")
            let json = try response.json()
            #expect(json["error.code"] == "VALIDATION_INVALID_INPUT")
            let problems = try #require(json["error.details.validation_errors"]?.arrayValue)
            let told = Set(
                problems.compactMap { problem -> String? in
                    guard let object = problem.objectValue else { return nil }
                    return
                        "\(object["field"]?.stringValue ?? "") \(object["pointer"]?.stringValue ?? "") \(object["code"]?.stringValue ?? "")"
                }
            )
            #expect(
                told == [
                    "email #/email VALIDATION_INVALID_EMAIL", "password #/password VALIDATION_MISSING_FIELD",
                    "first_name #/first_name VALIDATION_INVALID_FORMAT",
                ]
            )
            #expect(problems.first?.objectValue?["message"] == "Por favor, ingresa un correo electrónico válido")
        }
    }

    @Test(
        "Refuses the fourth reset request within the hour with the exact delay",
        arguments: [
            (Language.english, "You have tried to reset your password too many times. Please try again in "),
            (.spanish, "Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo en "),
        ]
    )
    func resetLimit(language: Language, text: String) async throws {
        try await withServer { server in
            let begin = ContinuousClock.now
            let headers = ["Accept-Language: \(language)"]
            for _ in 0..<3 {
                let response = try await server.post(
                    "/api/request-password-reset",
                    #"{"email":"a@example.com"}"#,
                    headers: headers
                )
                #expect(response.status == 200)
            }
            let refused = try await server.post("/api/request-password-reset", #"{"email":"A@EXAMPLE.com"}"#, headers: headers)
            #expect(refused.status == 429)
            let json = try refused.json()
            #expect(json["error.code"] == "RATE_LIMIT_EXCEEDED")
            let seconds = try #require(refused.retryAfter)
            #expect(refused.hasDelay(of: 3_600, since: begin), "\(seconds)")
            let wait = try #require(refused.retryPhrase(in: language))
            #expect(json["error.message"]?.stringValue == text + wait + ".")
            #expect(json["error.details.retry_after"] == .integer(Int64(seconds)))
            let other = try await server.post("/api/request-password-reset", #"{"email":"b@example.com"}"#)
            #expect(other.status == 200)
        }
    }

    @Test("Released apps get successes wrapped and flat, and errors in the success form")
    func legacyRoute() async throws {
        try await withServer { server in
            let path = "/reset_password/"
            let text = "Si existe una cuenta con este correo, recibirás un enlace para restablecer tu contraseña."
            let response = try await RawHTTP.send(
                "POST",
                path,
                to: server.url,
                headers: ["Content-Type: application/x-www-form-urlencoded", "Accept-Language: es"],
                body: Array("email=a%40example.com".utf8)
            )
            let json = try response.json()
            #expect(response.status == 200)
            #expect(json["success"] == true)
            #expect(json["data.user_exist_status"] == true)
            #expect(json["user_exist_status"] == true)
            #expect(json["data.message"]?.stringValue == text)
            #expect(json["message"]?.stringValue == text)

            let invalid = try await server.post(path, #"{"email":"nope"}"#)
            #expect(invalid.status == 400)
            #expect(try invalid.json()["success"] == false)
            #expect(try invalid.json()["error_code"] == 400)
            #expect(try invalid.json()["errors.0.field"] == "email")

            for _ in 0..<2 { _ = try await server.post(path, #"{"email":"a@example.com"}"#) }
            let refused = try await server.post(path, #"{"email":"a@example.com"}"#, headers: ["Accept-Language: es"])
            #expect(refused.status == 429)
            #expect(refused["Retry-After"] != nil)
            #expect(refused["X-Error-Code"] == "RATE_LIMIT_EXCEEDED")
            #expect(try refused.json()["error_code"] == 429)
            #expect(try refused.json()["errors.0.field"] == "rate_limit")
            let wait = try #require(refused.retryPhrase(in: .spanish))
            #expect(
                try refused.json()["errors.0.message"]?.stringValue
                    == "Has intentado restablecer tu contraseña demasiadas veces. Por favor, intenta de nuevo en \(wait)."
            )
        }
    }

    @Test("The default form of error bodies can be configured", arguments: ErrorForm.allCases)
    func configuredForm(form: ErrorForm) async throws {
        try await withServer {
            $0.errorForm = form
        } _: { server in
            let response = try await server.post("/api/validate-reset-token", #"{"token":"nope"}"#)
            #expect(response.status == 400)
            #expect(response["X-Error-Code"] == "AUTH_RESET_TOKEN_INVALID")
            let json = try response.json()
            let message =
                switch form {
                case .standard: json["error.message"]
                case .flat: json["message"]
                case .success: json["errors.0.message"]
                case .detail, .problem: json["detail"]
                }
            #expect(message == "Invalid or expired token")
        }
    }

    @Test("Echoes a valid request id and replaces an invalid one")
    func requestID() async throws {
        try await withServer { server in
            let echoed = try await RawHTTP.send("GET", "/health/live", to: server.url, headers: ["X-Request-Id: abc-1.2_X"])
            #expect(echoed["X-Request-Id"] == "abc-1.2_X")
            for id in ["a b", "<x>", String(repeating: "a", count: 65)] {
                let response = try await RawHTTP.send("GET", "/nothing", to: server.url, headers: ["X-Request-Id: \(id)"])
                #expect(response["X-Request-Id"] != id)
                #expect(response["X-Request-Id"]?.count == 36)
            }
        }
    }

    @Test("Refuses TRACE and returns nothing of the request")
    func trace() async throws {
        try await withServer { server in
            for (path, status) in [("/health/live", 405), ("/api/auth/login", 405), ("/nothing", 404)] {
                let response = try await RawHTTP.send("TRACE", path, to: server.url, headers: ["X-Secret: hunter2"])
                #expect(response.status == status, "\(path)")
                #expect(!response.text.contains("hunter2"))
                #expect(!response.headerLines.joined().contains("hunter2"))
            }
        }
    }

    @Test("No response allows pages of other sites to read it")
    func otherOrigins() async throws {
        try await withServer { server in
            let foreign = ["Origin: https://evil.example", "Access-Control-Request-Method: POST"]
            for (method, path) in [
                ("OPTIONS", "/api/auth/login"), ("POST", "/api/auth/login"), ("GET", "/api/auth/me"), ("GET", "/health/live"),
                ("GET", "/.well-known/jwks.json"), ("GET", "/openapi.json"), ("GET", "/reset-password"), ("GET", "/nothing"),
            ] {
                let response = try await RawHTTP.send(method, path, to: server.url, headers: foreign)
                let allowed = response.headerLines.filter { $0.lowercased().hasPrefix("access-control-") }
                #expect(allowed == [], "\(method) \(path)")
            }
        }
    }

    @Test("Every response has the security headers for browsers")
    func securityHeaders() async throws {
        try await withServer { server in
            for path in ["/health/live", "/nothing"] {
                let response = try await RawHTTP.send("GET", path, to: server.url)
                #expect(response["X-Content-Type-Options"] == "nosniff")
                #expect(response["Referrer-Policy"] == "no-referrer")
                #expect(response["Cache-Control"] == "no-store")
                #expect(response["Content-Security-Policy"]?.contains("default-src 'none'") == true)
                #expect(response["Strict-Transport-Security"] == nil)
            }
        }
    }
}
