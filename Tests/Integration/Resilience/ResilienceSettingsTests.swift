import Configuration
import Foundation
import Idempotency
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ResilienceSettingsTests {
    private func configuration(_ environment: [String: String]) throws -> AccountServerConfiguration {
        var configuration = AccountServerConfiguration(dataFolder: URL(fileURLWithPath: "/nonexistent"))
        let variables = environment.merging(["ENVIRONMENT": "development"]) { $1 }
        try configuration.read(ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: variables)))
        return configuration
    }

    @Test("Without settings the values are the defaults")
    func standard() throws {
        let configuration = try configuration([:])
        #expect(configuration.load.requestsInFlight == 512 && configuration.load.requestsWaiting == 64)
        #expect(configuration.idempotency.lifetime == .seconds(86_400))
        #expect(configuration.idempotency.bounds == IdempotencyBounds(bytes: 1 << 30))
    }

    @Test("Each value has a setting")
    func each() throws {
        let configuration = try configuration([
            "REQUESTS_IN_FLIGHT": "7", "REQUESTS_WAITING": "0", "IDEMPOTENCY_KEY_HOURS": "0.5", "IDEMPOTENCY_MEGABYTES": "8",
            "REQUEST_TIMEOUT_SECONDS": "5",
        ])
        #expect(configuration.load.requestsInFlight == 7 && configuration.load.requestsWaiting == 0)
        #expect(configuration.idempotency.lifetime == .seconds(1_800))
        #expect(configuration.idempotency.bounds == IdempotencyBounds(bytes: 8 << 20))
    }

    @Test(
        "Refuses an unknown setting with its name",
        arguments: [
            ("REQUESTS_IN_FLIGHT", "0"), ("REQUESTS_IN_FLIGHT", "many"), ("REQUESTS_WAITING", "-1"),
            ("REQUEST_TIMEOUT_SECONDS", "0"),
            ("REQUEST_TIMEOUT_SECONDS", "1.5"), ("IDEMPOTENCY_KEY_HOURS", "169"), ("IDEMPOTENCY_KEY_HOURS", "nan"),
            ("IDEMPOTENCY_MEGABYTES", "0"), ("IDEMPOTENCY_MEGABYTES", "99999999999999999999"),
        ]
    )
    func refused(name: String, value: String) {
        #expect {
            try configuration([name: value])
        } throws: { error in
            (error as? InvalidConfiguration)?.problems.map(\.setting) == [name]
        }
    }
}
