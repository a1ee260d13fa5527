import DataServerTesting
import Foundation
import Logging
import PostgresDriver
import RateLimiting
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct LimitKillTests {
    @Test(
        "The next server enforces the limits of a killed or stopped one",
        arguments: [
            SIGKILL, SIGTERM,
        ]
    )
    func restart(signal: Int32) async throws {
        try await withFolder { folder in
            let login = #"{"email":"ana@example.com","password":"wrong password"}"#
            let reset = #"{"email":"ana@example.com"}"#
            let begin = ContinuousClock.now
            try await serve(in: folder, endingWith: signal) { url in
                for _ in 0..<3 {
                    let response = try await post("/api/auth/login", login, to: url)
                    #expect(response.status == 401)
                }
                for _ in 0..<3 {
                    let response = try await post("/api/request-password-reset/", reset, to: url)
                    #expect(response.status == 200)
                }
            }
            try await serve(in: folder, endingWith: signal) { url in
                for (path, body, others, window) in [
                    ("/api/auth/login", login, 401, 900), ("/api/request-password-reset/", reset, 200, 3_600),
                ] {
                    let refused = try await post(path, body, to: url)
                    #expect(refused.status == 429)
                    #expect(refused.hasDelay(of: window, since: begin), "\(refused.retryAfter ?? 0)")
                    let other = try await post(path, body.replacing("ana@", with: "bea@"), to: url)
                    #expect(other.status == others)
                }
            }
        }
    }

    @Test("On PostgreSQL, the limits of reset requests survive a kill before a save")
    func postgres() async throws {
        try await withFolder { folder in
            var configuration = AccountServerConfiguration(dataFolder: folder)
            configuration.database = .postgres(try PostgresSettings(url: try await PostgresServer.shared().createDatabase()))
            configuration.secret = HiddenText(text: UUID().uuidString)
            configuration.limits.memory = TestStores.limitMemory << 20
            let (settings, secret) = (configuration.limits, KeySecret())
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let stores = try await Stores.open(configuration, servedBy: "1", logger: logger)
            func start() async throws -> any PersistentRateLimitStore {
                try await stores.limits(
                    settings,
                    sharedIn: nil,
                    secret: secret,
                    clock: ContinuousClock(),
                    snapshot: { SnapshotTime.now() },
                    logger: logger
                )
            }
            let claims = [RateLimitClaim("reset-email", key: "ana@example.com")]
            // This process ends without a save.
            try await {
                let killed = try await start()
                for _ in 0..<3 { #expect(try await killed.admit(claims).isAdmitted) }
            }()
            let next = try await start()
            #expect(try await !next.admit(claims).isAdmitted)
            try await next.close()
            try await stores.close()
        }
    }

    private func post(_ path: String, _ body: String, to url: URL) async throws -> RawHTTP.Answer {
        try await RawHTTP.send("POST", path, to: url, headers: ["Content-Type: application/json"], body: Array(body.utf8))
    }

    private func serve(in folder: URL, endingWith signal: Int32, _ body: (URL) async throws -> Void) async throws {
        let environment = ["ENVIRONMENT": "development", "LIMIT_LOGIN_ACCOUNT": "3/900"]
        try await Binary.serve(environment: environment, in: folder, endingWith: signal) { url, _ in try await body(url) }
    }
}
