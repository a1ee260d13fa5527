import AccountContract
import AccountCore
import Foundation
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct MetricsTests {
    @Test("Counts a story step by step, and no metric identifies a user")
    func story() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let link = try await server.resetLink(for: "ana@example.com")
            let token = link.token.rawValue
            _ = try await server.post("/api/request-password-reset/", #"{"email":"nobody@example.com"}"#)
            _ = try await server.post("/api/validate-reset-token/", #"{"token":"\#(token)"}"#)
            let weak = #"{"token":"\#(token)","new_password":"short"}"#
            let good = #"{"token":"\#(token)","new_password":"another horse battery"}"#
            for body in [weak, good, good] { _ = try await server.post("/api/confirm-password-reset/", body) }
            for password in ["another horse battery", "wrong"] {
                _ = try await server.post("/api/auth/login", #"{"email":"ana@example.com","password":"\#(password)"}"#)
            }
            _ = try await RawHTTP.send("GET", "/private/\(token)?email=ana@example.com", to: server.url)
            _ = try await server.mails(atLeast: 2)
            // The last email counts as delivered a moment before it is removed from the queue.
            let text = try await measurements(of: server) { text in
                text.contains("mails_handed_over_total{mail=\"password_changed\"} 1\n") && text.contains("mail_queue_length 0\n")
            }
            for line in [
                #"password_resets_total{step="requested"} 2"#, #"password_resets_total{step="handed_over"} 1"#,
                #"password_resets_total{step="validated"} 1"#, #"password_resets_total{step="confirmed"} 1"#,
                #"password_reset_failures_total{reason="weak_password",step="confirm"} 1"#,
                #"password_reset_failures_total{reason="token_invalid",step="confirm"} 1"#,
                #"logins_total{outcome="ok"} 1"#, #"logins_total{outcome="failed"} 1"#,
                #"mail_intent_age_seconds_count 2"#, #"mail_queue_length 0"#, #"mail_oldest_seconds 0"#, #"ready 1"#,
                #"hashing_queue_length 0"#,
                #"rate_limit_decisions_total{decision="allowed",policy="login-ip"} 2"#,
                #"http_server_requests_total{method="POST",route="/api/auth/login",status="2xx"} 1"#,
                #"http_server_requests_total{method="POST",route="/api/auth/login",status="4xx"} 1"#,
                #"http_server_requests_total{method="GET",route="none",status="4xx"} 1"#, #"http_server_requests_in_flight 1"#,
            ] { #expect(text.contains("\nholdfast_\(line)\n"), "\(line)") }
            for secret in [token, "ana@", "nobody", "private", "battery"] { #expect(!text.contains(secret), "\(secret)") }
        }
    }

    @Test("Every line follows the exposition format, and no name occurs twice")
    func format() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            _ = try await server.signIn("ana@example.com")
            let response = try await RawHTTP.send("GET", "/metrics", to: server.url)
            #expect(response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(response["Cache-Control"] == "no-store")
            #expect(response.text.hasSuffix("\n"))
            var types: [String: String] = [:]
            for line in response.text.split(separator: "\n") {
                if line.hasPrefix("# TYPE ") {
                    let words = line.split(separator: " ")
                    #expect(types.updateValue(String(words[3]), forKey: String(words[2])) == nil, "\(line)")
                } else if !line.hasPrefix("#") {
                    let sample = try #require(
                        line.wholeMatch(of: /([a-z_]+)(?:\{[a-z_]+="[^"]*"(?:,[a-z_]+="[^"]*")*\})? [0-9.e+\-]+/),
                        "\(line)"
                    )
                    let name = String(sample.1)
                    let base = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) }
                    #expect(types[name] != nil || base.flatMap { types[$0] } == "histogram", "\(line)")
                }
            }
            #expect(types["process_resident_memory_bytes"] == "gauge")
            #expect(types["holdfast_http_server_request_duration_seconds"] == "histogram")
        }
    }

    @Test("Distinguishes expired from unknown links in the metrics only")
    func expired() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let email = try EmailAddress("ana@example.com")
            let account = try #require(try await server.server.accounts.stores.accounts.account(email: email))
            let unknown = try await server.post("/api/validate-reset-token/", #"{"token":"\#(SecretToken().text)"}"#)
            #expect(unknown.status == 400)
            let failures = { (reason: String) in "password_reset_failures_total{reason=\"\(reason)\",step=\"validate\"}" }
            let text = try await measurements(of: server) { _ in true }
            #expect(text.contains(failures("token_invalid") + " 1\n") && text.contains(failures("token_expired") + " 0\n"))
            // The server may sweep an expired token before it validates the token.
            try await eventually {
                let secret = SecretToken()
                let token = StoredResetToken(
                    digest: secret.digest,
                    accountID: account.id,
                    recipient: email,
                    createdAt: Date().addingTimeInterval(-7_200),
                    expiresAt: Date().addingTimeInterval(-3_600)
                )
                try await server.server.accounts.stores.resetTokens.insert(token, liveLimit: 3)
                let expired = try await server.post("/api/validate-reset-token/", #"{"token":"\#(secret.text)"}"#)
                #expect(expired.status == 400)
                return try await measurements(of: server) { _ in true }.contains(failures("token_expired") + " 1\n")
            }
        }
    }

    @Test("In production only the token gives access to the metrics")
    func token() async throws {
        let token = "a token of the operator, 32 or more"
        try await withServer {
            $0.environment = .production
            $0.resetBaseURL = URL(string: "https://accounts.example.com")
            $0.metricsToken = HiddenText(text: token.replacing(" ", with: "_"))
        } _: { server in
            let right = "Authorization: Bearer \(token.replacing(" ", with: "_"))"
            for (header, status) in [
                ("X-None: 1", 401), ("Authorization: Bearer x", 401), ("Authorization: Basic eA==", 401), (right, 200),
            ] {
                let response = try await RawHTTP.send("GET", "/metrics", to: server.url, headers: [header])
                #expect(response.status == status, "\(header)")
                #expect(response.text.contains("holdfast_") == (status == 200))
            }
        }
        try await withServer {
            $0.environment = .production
            $0.resetBaseURL = URL(string: "https://accounts.example.com")
        } _: { server in
            let response = try await RawHTTP.send("GET", "/metrics", to: server.url)
            #expect(response.status == 404)
        }
    }

    /// Returns the metrics once they meet a condition.
    private func measurements(of server: TestServer, when isThere: (String) async throws -> Bool) async throws -> String {
        var text = ""
        try await eventually {
            text = try await RawHTTP.send("GET", "/metrics", to: server.url).text
            return try await isThere(text)
        }
        return text
    }
}
