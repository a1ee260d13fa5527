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
        let response = code.flatMap { $0 < 400 ? nil : $0 }.map { "\($0)" + (conversation.enhancedCode.map { " " + $0 } ?? "") }
        let cause = response ?? String(cString: curl_easy_strerror(result))
        return "\(cause) at \(conversation.stage.rawValue)\(advice)"
    }
}

/// What is known of one mail's way through SMTP: which command was said last, and how the server answered.
///
/// Of the answers only the codes are kept: their words quote addresses.
struct SMTPConversation {
    /// The part of the conversation that the last command belongs to.
    enum Stage: String {
        /// Nothing was said: name look-up, connection, TLS from the first byte.
        case connect = "connecting"
        case greeting = "EHLO"
        case encryption = "STARTTLS"
        case authentication = "AUTH"
        case sender = "MAIL FROM"
        case recipient = "RCPT TO"
        case content = "DATA"
    }

    private(set) var stage = Stage.connect
    /// The last answer's code, such as 550.
    private(set) var code: Int?
    /// The last answer's enhanced code (RFC 3463), such as 5.1.1.
    private(set) var enhancedCode: String?
    /// Whether QUIT was said; what is answered to it does not count.
    private var isOver = false
    /// Whether the whole mail has been sent, so that the server may have it, whatever comes after.
    var isSent = false

    /// Notes a command.
    mutating func said(_ line: some StringProtocol) {
        // What answers a 334 is part of AUTH, and secret.
        guard !isOver, stage != .authentication || code != 334 else { return }
        let verb = line.prefix { $0.isLetter }.uppercased()
        switch verb {
        case "EHLO", "HELO": stage = .greeting
        case "STARTTLS": stage = .encryption
        case "AUTH": stage = .authentication
        case "MAIL": stage = .sender
        case "RCPT": stage = .recipient
        case "DATA": stage = .content
        case "QUIT":
            isOver = true
            return
        default: return
        }
        (code, enhancedCode) = (nil, nil)
    }

    /// Notes a line of an answer.
    mutating func heard(_ line: some StringProtocol) {
        guard !isOver, let code = Int(line.prefix(3)), (200...599).contains(code) else { return }
        self.code = code
        let word = line.dropFirst(4).prefix { $0.isNumber || $0 == "." }
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        let isEnhanced = parts.count == 3 && parts.allSatisfy { (1...3).contains($0.utf8.count) && Int($0) != nil }
        enhancedCode = isEnhanced && parts[0] == "\(code / 100)" ? String(word) : nil
    }
}
