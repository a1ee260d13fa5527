import AccountCore
import CLibCurl

/// What became of a mail that was not handed over: judged by the command at which it failed, as a code alone does not tell whether
/// the mail, the server or the configuration is at fault.
struct SMTPFailure: Error {
    let result: CURLcode
    let conversation: SMTPConversation

    /// Whether whoever waited for the mail has turned away.
    var isCancellation: Bool { result == CURLE_ABORTED_BY_CALLBACK }

    /// The failure as the mail worker understands it.
    var error: MailDeliveryError {
        MailDeliveryError(kind, message: message, mayHaveArrived: conversation.isSent && (code ?? 0) < 400)
    }

    private var code: Int? { conversation.code }

    private var kind: MailDeliveryError.Kind {
        switch result {
        case CURLE_LOGIN_DENIED, CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM:
            // A server that is busy refuses a login with 4xx (RFC 4954 §6).
            return (code ?? 0) / 100 == 4 ? .unavailable : .misconfigured
        default: break
        }
        switch (conversation.stage, (code ?? 0) / 100) {
        case (.recipient, 5) where code == 530: return .misconfigured
        case (.recipient, 5), (.content, 5): return .refused
        case (.recipient, 4), (.content, 4): return code == 421 ? .unavailable : .deferred
        case (.recipient, _), (.content, _): return conversation.isSent ? .deferred : .unavailable
        // Who may send, from which address, with what proof: that is the operator's to settle, and no fault of this mail.
        case (.connect, 5), (.greeting, 5), (.encryption, 5), (.authentication, 5), (.sender, 5): return .misconfigured
        default: return .unavailable
        }
    }

    /// Neither the server's words nor ours: both may quote addresses.
    private var message: String {
        let advice =
            switch (kind, result, conversation.stage) {
            case (.misconfigured, CURLE_PEER_FAILED_VERIFICATION, _):
                ": its certificate is not trusted or not for EMAIL_HOST; EMAIL_CA_FILE names other authorities"
            case (.misconfigured, CURLE_USE_SSL_FAILED, _): ": it offers no STARTTLS, which EMAIL_USE_TLS requires"
            case (.misconfigured, CURLE_LOGIN_DENIED, _), (.misconfigured, _, .authentication):
                ": check EMAIL_HOST_USER and EMAIL_HOST_PASSWORD"
            case (.misconfigured, _, .sender): ": check that this login may send from the address of EMAIL_FROM"
            default: ""
            }
        let answer = code.flatMap { $0 < 400 ? nil : $0 }.map { "\($0)" + (conversation.enhancedCode.map { " " + $0 } ?? "") }
        let cause = answer ?? String(cString: curl_easy_strerror(result))
        return "\(cause) at \(conversation.stage.rawValue)\(advice)"
    }
}
