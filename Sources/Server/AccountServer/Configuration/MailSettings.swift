import AccountContract
public import Email
import Foundation
import ServerMiddleware

/// The destination of emails.
public enum MailSettings: Sendable {
    /// The folder of the local mailbox, which is the default. The server writes emails to this folder and doesn't send them. Use this case
    /// for development.
    case mailbox
    /// An SMTP server, which `EMAIL_HOST` enables.
    case smtp(SMTPSettings)
}

extension MailSettings {
    /// Reads the settings of emails. With `EMAIL_HOST`, the result is ``smtp(_:)``; without it, the result is ``mailbox``.
    /// - Parameter sender: The sender of emails.
    init(_ settings: inout SettingReader, sender: String) {
        self = .mailbox
        let user = settings.text("EMAIL_HOST_USER")
        let password = settings.text("EMAIL_HOST_PASSWORD", isSecret: true)
        guard let host = settings.text("EMAIL_HOST") else {
            for name in ["EMAIL_PORT", "EMAIL_USE_TLS", "EMAIL_USE_SSL", "EMAIL_HOST_PASSWORD", "EMAIL_TIMEOUT", "EMAIL_CA_FILE"]
            where settings.text(name, isSecret: name == "EMAIL_HOST_PASSWORD") != nil {
                settings.refuse(name, "needs EMAIL_HOST, the name of the SMTP server")
            }
            return
        }
        if host.wholeMatch(of: /[A-Za-z0-9.\-_]{1,253}|[0-9A-Fa-f:.]{2,45}/) == nil {
            settings.refuse("EMAIL_HOST", "must be a name or an address, without scheme and port (is “\(host)”)")
        }
        let startsTLS = settings.boolean("EMAIL_USE_TLS", default: false)
        let isTLS = settings.boolean("EMAIL_USE_SSL", default: false)
        if startsTLS, isTLS {
            settings.refuse(
                "EMAIL_USE_TLS",
                "and EMAIL_USE_SSL exclude each other: the first is STARTTLS (port 587), the second TLS from the first byte (465)"
            )
        }
        let security: SMTPSettings.Security = isTLS ? .tls : startsTLS ? .startTLS : .none
        let port = settings.integer("EMAIL_PORT", in: 1...65_535, default: security.usualPort)
        let timeout = settings.integer("EMAIL_TIMEOUT", in: 1...300, default: 30)
        var smtp = SMTPSettings(host: host, port: port, security: security, timeout: .seconds(timeout))
        if let user, let password {
            smtp.credentials = .init(user: user, password: password)
            if security == .none, !RequestHost.isLoopback(host) {
                settings.refuse(
                    "EMAIL_HOST_PASSWORD",
                    "would be sent unencrypted: set EMAIL_USE_TLS=true (port 587) or EMAIL_USE_SSL=true (port 465)"
                )
            }
        } else if password != nil {
            settings.refuse("EMAIL_HOST_PASSWORD", "needs EMAIL_HOST_USER")
        } else if user != nil {
            settings.refuse(
                "EMAIL_HOST_USER",
                "needs EMAIL_HOST_PASSWORD; for a server without a login, remove EMAIL_HOST_USER and set EMAIL_FROM"
            )
        }
        if let file = settings.text("EMAIL_CA_FILE") {
            smtp.authorities = URL(filePath: file).path
            if !((try? String(contentsOfFile: file, encoding: .utf8))?.contains("-----BEGIN CERTIFICATE-----") ?? false) {
                settings.refuse("EMAIL_CA_FILE", "is not a readable file of certificates in PEM (is “\(file)”)")
            }
        }
        if Self.asciiSender(sender) == nil {
            let text = "must be the sender of emails, such as Crowns <no-reply@example.com>"
            // The operator has not set the default sender, so the problem doesn't quote it.
            if let name = ["EMAIL_FROM", "DEFAULT_FROM_EMAIL"].first(where: { settings.text($0) != nil }) {
                settings.refuse(name, "\(text) (is “\(sender)”)")
            } else {
                settings.refuse("EMAIL_FROM", user == nil ? text : "\(text) (EMAIL_HOST_USER is not an address)")
            }
        }
        self = .smtp(smtp)
    }

    /// Returns a sender whose address has only ASCII characters, as SMTP requires. A domain with other letters becomes punycode.
    ///
    /// - Parameter sender: The sender, as `Name <address>` or an address.
    /// - Returns: The sender; `nil` if its address is invalid.
    static func asciiSender(_ sender: String) -> String? {
        guard sender.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else { return nil }
        guard let open = sender.lastIndex(of: "<") else { return (try? EmailAddress(sender))?.text }
        let start = sender.index(after: open)
        guard sender.hasSuffix(">"), let address = try? EmailAddress(String(sender[start...].dropLast())) else { return nil }
        return "\(sender[..<start])\(address.text)>"
    }

    /// The longest time for the delivery of one email.
    ///
    /// The time is zero for the local mailbox.
    package var timeout: Duration {
        guard case .smtp(let smtp) = self else { return .zero }
        return smtp.timeout
    }

    /// A summary for the operator who starts the server: the host, the port and the encryption, without credentials. `nil` for the local
    /// mailbox.
    package var summary: String? {
        guard case .smtp(let smtp) = self else { return nil }
        let security = smtp.security == .none ? "not encrypted" : smtp.security.rawValue
        return "\(smtp.host):\(smtp.port) (\(security)\(smtp.credentials == nil ? "" : ", with a login"))"
    }
}
