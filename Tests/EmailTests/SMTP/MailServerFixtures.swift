import AccountContract
import AccountCore
import Email
import ErrorContract
import Foundation
import MailServerTesting

extension Mail {
    /// Returns an email with accented text.
    static func accented(
        to recipient: String = "ana@example.com",
        from sender: String = "Ñandú <noreply@example.com>",
        subject: String = "Restablecer tu contraseña - Ñandú",
        text: String = "Hola Ana,\n\n.\n..\nhttps://example.com/reset-password?token=abc&email=a%40b.de\n.\n",
        html: String = "<p>¡Hola Ana!</p>\n"
    ) throws -> Mail {
        Mail(
            sender: sender,
            recipient: try EmailAddress(recipient),
            subject: subject,
            text: text,
            html: html,
            language: .spanish
        )
    }
}

extension SMTPDelivery {
    /// Creates a delivery to a test's server.
    init(
        _ server: MailServer,
        security: SMTPSettings.Security = .none,
        login: (String, String)? = nil,
        timeout: Duration = .seconds(60),
        _ change: (inout SMTPSettings) -> Void = { _ in }
    ) {
        var settings = SMTPSettings(
            host: "localhost",
            port: server.port,
            security: security,
            credentials: login.map { .init(user: $0.0, password: $0.1) },
            timeout: timeout
        )
        // On a busy machine, the TLS handshake can take more than the standard 10 s.
        settings.connectTimeout = timeout
        if security != .none { settings.authorities = server.authorities }
        change(&settings)
        self.init(settings: settings, now: { Date(timeIntervalSince1970: 1_750_000_000) })
    }

    /// Returns the error of a delivery; `nil` if it succeeds.
    func failure(_ mail: Mail) async throws -> MailDeliveryError? {
        do {
            try await deliver(mail)
            return nil
        } catch let error as MailDeliveryError {
            return error
        }
    }
}
