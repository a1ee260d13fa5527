import AccountCore
import CLibCurl
import Foundation

extension SMTPDelivery {
    /// Connects to a mail server, agrees on TLS and signs in, as a mail would, and sends nothing.
    /// - Parameters:
    ///   - settings: How it is reached; a connection takes ``SMTPSettings/connectTimeout`` at most, and all of it ``SMTPSettings/timeout``.
    ///   - sender: Who mails are from; EHLO names its domain.
    /// - Throws: `MailDeliveryError` with what stands in the way, and what to do about it.
    public static func probe(_ settings: SMTPSettings, sender: String) async throws {
        let envelope = SMTPEnvelope(sender: MIMEMessage.address(of: sender), recipient: "", message: [])
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let thread = Thread {
                // A server that hangs up must not end the process.
                var signals = sigset_t()
                sigemptyset(&signals)
                sigaddset(&signals, SIGPIPE)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                guard let session = SMTPSession(settings: settings) else {
                    return continuation.resume(throwing: MailDeliveryError(.unavailable, message: "libcurl could not start"))
                }
                continuation.resume(with: session.probe(envelope).mapError { $0.error as any Error })
            }
            thread.name = "holdfast.smtp"
            thread.start()
        }
    }
}
