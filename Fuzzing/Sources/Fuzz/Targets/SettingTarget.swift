import AccountCore
import AccountRoutes
import AccountServer
import Configuration
import Foundation
import RateLimiting
import ServerMiddleware

/// Parses the settings of a `.env` file.
struct SettingTarget: FuzzTarget {
    /// Settings with file names. An input must not open devices of this machine.
    private static let files = ["TLS_CERT", "TLS_KEY", "EMAIL_CA_FILE", "TEMPLATES_DIR"]
    private static let secrets = ["HOLDFAST_SECRET", "METRICS_TOKEN", "EMAIL_HOST_PASSWORD"]

    init(folder: URL) throws {}

    func check(_ input: [UInt8]) throws {
        let file: EnvironmentFile
        do {
            file = try EnvironmentFile(Data(input))
        } catch {
            try require(error.problems.count <= input.count, "\(error.problems.count) problems in \(input.count) bytes")
            return
        }
        try checkWritten(file)
        let values = file.values.filter { !Self.files.contains($0.key) }
        var settings = AccountServerConfiguration(dataFolder: URL(filePath: "/nonexistent"))
        do {
            let reader = ConfigReader(provider: EnvironmentVariablesProvider(environmentVariables: values))
            try settings.read(reader, names: Set(values.keys))
            try check(settings)
        } catch let error as InvalidConfiguration {
            let text = error.description
            for name in Self.secrets {
                guard let secret = values[name], secret.count >= 12 else { continue }
                // A text that another setting also contains may be quoted with that setting.
                let isElsewhere = values.contains { $0.key != name && ($0.key.contains(secret) || $0.value.contains(secret)) }
                try require(isElsewhere || !text.contains(secret), "a problem quotes a secret")
            }
        }
    }

    /// Requires that settings are the same after they were written and read again.
    private func checkWritten(_ file: EnvironmentFile) throws {
        let lines = file.values.map { name, value in "export \(name) = \"\(value)\"" }
        let again = try EnvironmentFile(Data(lines.joined(separator: "\r\n").utf8))
        try require(again == file, "settings that were written are read as others")
    }

    /// Requires that accepted settings are within their ranges.
    private func check(_ settings: AccountServerConfiguration) throws {
        if settings.environment == .production {
            try require(settings.resetBaseURL?.scheme == "https", "links in production are not https")
        }
        try require(!settings.offersDevelopmentPages || settings.environment == .development, "development pages in production")
        for secret in [settings.secret, settings.metricsToken].compactMap(\.self) {
            try require(secret.text.utf8.count >= 32, "a short secret")
        }
        try require((6...64).contains(settings.passwordPolicy.minimumLength), "a password of any length")
        try require((1...100).contains(settings.recoveryRules.liveLinks), "\(settings.recoveryRules.liveLinks) links")
        let lifetime = settings.recoveryRules.linkLifetime
        try require((.seconds(180)...(.seconds(86_400))).contains(lifetime), "a link lives for \(lifetime)")
        try require((1...100_000).contains(settings.load.requestsInFlight), "\(settings.load.requestsInFlight) requests")
        for proxy in settings.limits.identity.trustedProxies {
            try require(proxy.prefixLength > 0, "every client is a trusted proxy")
        }
        for policy in settings.limits.policies.values {
            try require((1...1_000_000).contains(policy.quota), "a quota of \(policy.quota)")
        }
        if let scheme = settings.appScheme?.lowercased() {
            try require(!["http", "https", "javascript", "data", "file", "mailto"].contains(scheme), "the scheme \(scheme)")
        }
    }
}
