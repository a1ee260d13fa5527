import AccountContract
import AccountCore
import AppLinks
import Configuration
import Foundation
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct AccountRulesTests {
    private func rules(_ environment: [String: String]) throws -> AccountRules {
        var configuration = AccountServerConfiguration(dataFolder: URL(fileURLWithPath: "/nonexistent"))
        let variables = environment.merging(["ENVIRONMENT": "development"]) { $1 }
        try configuration.read(ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: variables)))
        return configuration.accountRules
    }

    @Test("Without settings the rules are the defaults")
    func standard() throws {
        let rules = try rules([:])
        #expect(rules == AccountRules())
        #expect(rules.registration == .open && !rules.requiresVerifiedEmail && rules.sendsNewDeviceEmails)
        #expect(rules.deletionGraceDays == 7 && rules.unverifiedDays == 0)
    }

    @Test("Reads each setting")
    func settings() throws {
        let rules = try rules([
            "REGISTRATION": "Blind", "REQUIRE_VERIFIED_EMAIL": "true", "DELETION_GRACE_DAYS": "0", "UNVERIFIED_DAYS": "3650",
            "NEW_DEVICE_EMAILS": "off",
        ])
        #expect(rules.registration == .blind && rules.requiresVerifiedEmail && !rules.sendsNewDeviceEmails)
        #expect(rules.deletionGraceDays == 0 && rules.unverifiedDays == 3_650)
        #expect(rules.purgeInterval == .seconds(1))
    }

    @Test("Refuses all invalid settings at once")
    func invalid() throws {
        let environment = [
            "REGISTRATION": "secret", "REQUIRE_VERIFIED_EMAIL": "maybe", "DELETION_GRACE_DAYS": "366", "UNVERIFIED_DAYS": "-1",
            "NEW_DEVICE_EMAILS": "x", "REGISTRATION_REVEALS_ACCOUNTS": "false",
        ]
        let error = #expect(throws: InvalidConfiguration.self) { try rules(environment) }
        #expect(Set(error?.problems.map(\.setting) ?? []) == Set(environment.keys))
    }

    @Test("The association files list the page of every link")
    func links() {
        #expect(AssociationFile.linkNames == AccountLink.Purpose.allCases.map(\.page))
    }
}
