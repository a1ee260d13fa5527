import ErrorContract
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite(.timeLimit(.minutes(10))) struct TLSTests {
    /// Creates a certificate and a key in `cert.pem` and `key.pem` of a folder, with OpenSSL.
    private func makeCertificate(days: Int = 30, in folder: URL) async throws {
        let command =
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days \(days) -subj /CN=localhost"
            + " -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem"
        let run = try await Binary.run(["-c", command], at: "/bin/sh", in: folder)
        try #require(run.status == 0, "\(run.errors)")
    }

    private let environment = ["ENVIRONMENT": "development", "TLS_CERT": "cert.pem", "TLS_KEY": "key.pem"]

    private func curl(_ arguments: [String], in folder: URL) async throws -> ProcessResult {
        try await Binary.run(["--silent", "--show-error", "--max-time", "120"] + arguments, at: "/usr/bin/curl", in: folder)
    }

    @Test("With a certificate and its key the server accepts only HTTPS")
    func serves() async throws {
        try await withFolder { folder in
            try await makeCertificate(in: folder)
            try await withServing(environment: environment, in: folder) { url in
                #expect(url.scheme == "https")
                let trusted = ["--cacert", "cert.pem"]
                let ready = try await curl(
                    trusted + ["--write-out", "%{http_code} %{ssl_verify_result}", "\(url)/health/ready"],
                    in: folder
                )
                #expect(ready.output.hasSuffix("200 0"), "\(ready.errors)")
                let json = ["--json", #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#]
                let registered = try await curl(trusted + json + ["\(url)/api/auth/register"], in: folder)
                #expect(registered.output.contains("access_token"), "\(registered.errors)")
                let unparsable = try await curl(trusted + ["--request", "BREW", "\(url)/pot"], in: folder)
                #expect(unparsable.output.contains("REQUEST_MALFORMED"), "\(unparsable.errors)")
                let untrusted = try await curl(["\(url)/health/live"], in: folder)
                #expect(untrusted.status == 60)
                let old = try await curl(trusted + ["--tls-max", "1.1", "\(url)/health/live"], in: folder)
                #expect(old.status != 0 && old.output.isEmpty)
                let plain = try await curl([url.absoluteString.replacing("https:", with: "http:")], in: folder)
                #expect(plain.status != 0 && plain.output.isEmpty)
                // Bytes that are not TLS have done no damage.
                #expect(try await curl(trusted + ["\(url)/health/live"], in: folder).status == 0)
            }
        }
    }

    @Test(
        "Accepts only TLS 1.2 suites with forward secrecy and authenticated encryption",
        arguments: [
            ("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-ECDSA-CHACHA20-POLY1305", true), ("ECDHE-ECDSA-AES128-SHA", false),
        ]
    )
    func suites(name: String, isTaken: Bool) async throws {
        try await withFolder { folder in
            try await makeCertificate(in: folder)
            try await withServing(environment: environment, in: folder) { url in
                let run = try await curl(
                    ["--cacert", "cert.pem", "--tls-max", "1.2", "--ciphers", name, "\(url)/health/live"],
                    in: folder
                )
                #expect((run.status == 0) == isTaken, "\(run.errors)")
            }
        }
    }

    @Test("A page may post to the origin that is served")
    func origin() async throws {
        try await withFolder { folder in
            try await makeCertificate(in: folder)
            try await withServing(environment: environment, in: folder) { url in
                for (origin, status) in [(url.absoluteString, "200"), ("http://127.0.0.1:\(url.port ?? 0)", "403")] {
                    let form = ["--cacert", "cert.pem", "--header", "Origin: \(origin)", "--data", "email=ana@example.com"]
                    let page = try await curl(
                        form + ["--output", "/dev/null", "--write-out", "%{http_code}", "\(url)/reset-password/request"],
                        in: folder
                    )
                    #expect(page.output == status, "\(origin)")
                }
            }
        }
    }

    @Test("Reports an unusable certificate or key with its setting, without quoting the key")
    func refused() async throws {
        try await withFolder { folder in
            try await makeCertificate(in: folder)
            try FileManager.default.moveItem(at: folder.appending(path: "key.pem"), to: folder.appending(path: "other.pem"))
            try await makeCertificate(in: folder)
            let key = try String(contentsOf: folder.appending(path: "key.pem"), encoding: .utf8).split(separator: "\n")[1]
            for (settings, name) in [
                (["TLS_CERT": "cert.pem"], "TLS_KEY"), (["TLS_KEY": "key.pem"], "TLS_CERT"),
                (["TLS_CERT": "nowhere", "TLS_KEY": "key.pem"], "TLS_CERT"),
                (["TLS_CERT": "key.pem", "TLS_KEY": "key.pem"], "TLS_CERT"),
                (["TLS_CERT": "cert.pem", "TLS_KEY": "cert.pem"], "TLS_KEY"),
                (["TLS_CERT": "cert.pem", "TLS_KEY": "."], "TLS_KEY"),
                (["TLS_CERT": "cert.pem", "TLS_KEY": "other.pem"], "TLS_KEY"),
            ] {
                let environment = settings.merging(["ENVIRONMENT": "development"]) { first, _ in first }
                let run = try await Binary.run(["serve", "--port", "0"], environment: environment, in: folder)
                #expect(run.status == 78 && run.errors.contains("  \(name) "), "\(settings): \(run.errors)")
                #expect(!run.errors.contains(key))
            }
        }
    }

    @Test("Doctor reports when the certificate expires", arguments: [(30, "ok"), (2, "advice")])
    func expiry(days: Int, verdict: String) async throws {
        try await withFolder { folder in
            try await makeCertificate(days: days, in: folder)
            let run = try await Binary.run(["doctor", "--json"], environment: environment, in: folder)
            let findings = try JSONBody(Array(run.output.utf8)).value.objectValue?["findings"]?.arrayValue ?? []
            let finding = try #require(findings.first { $0.objectValue?["subject"]?.stringValue == "certificate" })
            #expect(finding.objectValue?["verdict"]?.stringValue == (verdict == "ok" ? "good" : "advice"), "\(run.output)")
            #expect(run.status == 0)
        }
    }
}
