import DataServerTesting
import Logging
import RateLimiting
import Testing
import ValkeyDriver
import ValkeyStores

@Suite struct GettingStartedTests {
    @Test("The example of the documentation runs")
    func start() async throws {
        try await ValkeyServer.run { server in
            let (url, secret) = (server.url, KeySecret())
            let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            // snippet: start-valkey-stores
            let client = ValkeyClient(
                address: try ValkeyAddress(url: url),
                scripts: ValkeyRateLimitStore<ContinuousClock>.scripts,
                logger: logger
            )
            let store = ValkeyRateLimitStore(
                [RateLimitRule(.requests(3, per: .seconds(3600), name: "reset-email"))],
                client: client,
                secret: secret,
                fallback: .local(share: 0.5),
                clock: ContinuousClock(),
                logger: logger
            )
            let response = try await store.admit([RateLimitClaim("reset-email", key: "ana@example.com")])
            print(response.refusal?.retryAfter.map { "Try again in \($0)" } ?? "Admitted")
            await store.close()
            // snippet end
            #expect(response.isAdmitted)
        }
    }

    @Test("The scripts use only keys that are declared")
    func declaredKeys() {
        for script in ValkeyRateLimitStore<ContinuousClock>.scripts {
            let calls = script.text.split(separator: "redis.call(").dropFirst()
            for call in calls where !call.hasPrefix("'TIME'") {
                let key = call.split(separator: ",")[1].drop { $0 == " " }
                #expect(key.hasPrefix("KEYS[") || key.hasPrefix("key"), "\(call.prefix(40))")
            }
        }
    }
}
