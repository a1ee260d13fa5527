import AccountCore
import AccountServer
import Email
import ErrorContract
import Foundation
import ServerMiddleware
import StrictJSON

/// Checks everything that a server needs. The checks change nothing.
struct Doctor: Sendable {
    /// The configuration of the server to check.
    let configuration: AccountServerConfiguration
    /// The longest time for a network check.
    var patience: Duration = .seconds(8)

    /// Returns all findings, in the order in which they should be fixed.
    func examine() async -> [Finding] {
        async let mail = examineMail()
        async let link = examineLinks()
        let data = await examineData()
        let settings: [Finding?] = [
            examineConfiguration(), examineNames(), examineRegistration(), examineCertificate(), examineProxies(),
            examineOperations(),
        ]
        return settings.compactMap { $0 } + data + (await examineSharedLimits()) + [await mail] + (await link)
    }

    /// Checks the expiry of the TLS certificate. An expiry in less than 14 days is a warning. `nil` if the server uses no TLS.
    private func examineCertificate(now: Date = Date()) -> Finding? {
        guard let end = configuration.tls?.end else { return nil }
        let days = Int((end.timeIntervalSince(now) / 86_400).rounded(.down))
        let remedy = "renew it, and restart the server, which reads TLS_CERT only when it starts"
        if end <= now { return .wrong("certificate", "has ended", remedy) }
        return days < 14
            ? .advice("certificate", "ends in \(days) days", remedy) : .good("certificate", "ends in \(days) days")
    }

    /// Warns about development mode. Invalid settings are reported earlier, so the settings are valid here.
    private func examineConfiguration() -> Finding {
        let mode = configuration.environment == .production ? "production" : "development"
        if configuration.environment == .development {
            return .advice(
                "configuration",
                "is valid; \(mode)",
                "remove ENVIRONMENT on a server with users: /dev shows emails, and links need no https"
            )
        }
        return .good("configuration", "can be used; \(mode)")
    }

    /// Warns about names in `.env` that the server ignores.
    private func examineNames() -> Finding? {
        let names = configuration.unknownNames
        guard !names.isEmpty else { return nil }
        return .advice(
            "configuration",
            "ignores names in .env that are not settings: \(names.joined(separator: ", "))",
            "correct or remove them; docs/operations/settings.md lists all settings"
        )
    }

    /// Warns about open registration in production, because its response reveals whether an address has an account.
    private func examineRegistration() -> Finding? {
        let mode = configuration.accountRules.registration
        guard mode == .open else { return .good("registration", "is \(mode.rawValue)") }
        guard configuration.environment == .production else { return nil }
        return .advice(
            "registration",
            "is open: its response reveals whether an address has an account",
            "set REGISTRATION=blind, when all installed apps handle its response; see docs/server/accounts.md"
        )
    }

    /// Warns about missing trusted proxies in production, if the server has no certificate. Such a server needs a proxy for TLS, so each
    /// connection comes from the proxy.
    private func examineProxies() -> Finding? {
        guard configuration.limits.identity.trustedProxies.isEmpty else {
            return .good("proxies", "are named in TRUSTED_PROXIES")
        }
        guard configuration.environment == .production, configuration.tls == nil else { return nil }
        return .advice(
            "proxies",
            "none is trusted: behind a proxy, all users share the limits of one client",
            "set TRUSTED_PROXIES to the proxy's address, such as 127.0.0.1"
        )
    }

    /// Warns if the public listener serves the metrics in production.
    private func examineOperations() -> Finding? {
        if let ops = configuration.ops { return .good("operations", "/metrics and /health/ready are only served at \(ops)") }
        guard configuration.environment == .production, configuration.metricsToken != nil else { return nil }
        return .advice(
            "operations",
            "/metrics shares the public listener: it is unavailable while all connections are in use",
            "set OPS_LISTEN=127.0.0.1:9100"
        )
    }

    /// Connects to the SMTP server and logs in. No email is sent.
    private func examineMail() async -> Finding {
        guard case .smtp(var settings) = configuration.mail else {
            let remedy = "set EMAIL_HOST and the related settings; see docs/operations/mail.md"
            return configuration.environment == .production
                ? .advice("mail", "no email is sent: emails go to the local mailbox", remedy)
                : .good("mail", "emails go to the local mailbox")
        }
        settings.timeout = min(settings.timeout, patience)
        settings.connectTimeout = min(settings.connectTimeout, patience)
        let server = "\(settings.host):\(settings.port)"
        do {
            try await SMTPDelivery.probe(settings, sender: configuration.emailFrom)
            let login = settings.credentials == nil ? "without a login" : "took the login"
            let security = settings.security == .none ? "not encrypted" : settings.security.rawValue
            let text = "\(server) responds (\(security)), \(login)"
            guard settings.security == .none, !RequestHost.isLoopback(settings.host) else {
                return .good("mail", text)
            }
            return .advice("mail", text, "set EMAIL_USE_TLS=true: links would be sent unencrypted")
        } catch {
            let failure = error as? MailDeliveryError
            let reason = failure?.message ?? "\(type(of: error))"
            let remedy =
                failure?.kind == .misconfigured
                ? "no email is sent until this is fixed" : "check EMAIL_HOST, EMAIL_PORT and the firewall; emails wait"
            return .wrong("mail", "\(server): \(reason)", remedy)
        }
    }
}

/// The result of one check of `holdfast doctor`.
struct Finding: Hashable, Sendable {
    /// The severity of a finding.
    enum Verdict: String, Sendable {
        /// The subject works.
        case good
        /// The server works, but an operator should check the subject.
        case advice
        /// The server doesn't start, or doesn't work correctly.
        case wrong
    }

    /// The subject of the check, such as `database`.
    let subject: String
    /// The severity.
    let verdict: Verdict
    /// The result of the check.
    let text: String
    /// The fix, if one is needed.
    let remedy: String?

    /// Creates a finding without a problem.
    static func good(_ subject: String, _ text: String) -> Finding {
        Finding(subject: subject, verdict: .good, text: text, remedy: nil)
    }

    /// Creates a finding about a problem that doesn't prevent the server from working.
    /// - Parameters:
    ///   - subject: The subject of the check.
    ///   - text: The result of the check.
    ///   - remedy: The fix.
    static func advice(_ subject: String, _ text: String, _ remedy: String) -> Finding {
        Finding(subject: subject, verdict: .advice, text: text, remedy: remedy)
    }

    /// Creates a finding about a problem that the operator must fix.
    /// - Parameters:
    ///   - subject: The subject of the check.
    ///   - text: The result of the check.
    ///   - remedy: The fix.
    static func wrong(_ subject: String, _ text: String, _ remedy: String) -> Finding {
        Finding(subject: subject, verdict: .wrong, text: text, remedy: remedy)
    }

    /// The finding as JSON.
    var json: JSONValue {
        var members: JSONObject = [
            "subject": .string(subject), "verdict": .string(verdict.rawValue), "text": .string(text),
        ]
        if let remedy { members["remedy"] = .string(remedy) }
        return .object(members)
    }

    /// Returns the finding as text: one line, and a second line with the fix.
    func lines(_ style: TextStyle) -> [String] {
        let mark =
            switch verdict {
            case .good: style.good("ok    ")
            case .advice: style.waiting("advice")
            case .wrong: style.bad("wrong ")
            }
        let name = subject + String(repeating: " ", count: max(0, 14 - subject.count))
        return ["\(mark)  \(name) \(text)"]
            + (remedy.map { [style.faint("        \(String(repeating: " ", count: 14)) → \($0)")] } ?? [])
    }
}
