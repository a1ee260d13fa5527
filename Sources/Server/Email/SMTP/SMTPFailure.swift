import AccountCore
import CLibCurl

/// The failure of a delivery. Its kind depends on the command that failed, because the code of a reply alone doesn't show the cause. For
/// example, 550 after `RCPT TO` concerns one recipient, but 550 after `MAIL FROM` concerns all emails.
struct SMTPFailure: Error {
    /// The error of libcurl.
    let result: CURLcode
    /// The state of the conversation when the delivery failed.
    let conversation: SMTPConversation

    /// Whether the caller was canceled.
    var isCancellation: Bool { result == CURLE_ABORTED_BY_CALLBACK }

    /// The error for the mail worker. `mayHaveArrived` is `true` if the whole message was sent and the server did not reply with an error.
    var error: MailDeliveryError {
        MailDeliveryError(kind, message: message, mayHaveArrived: conversation.isSent && (code ?? 0) < 400)
    }

    private var code: Int? { conversation.code }

    /// The kind of the failure. If libcurl reports a refused login, a wrong certificate or missing TLS, the kind is `misconfigured`. After
    /// a 4xx reply, it is `unavailable` instead. For other errors of libcurl, the stage and the code of the reply determine the kind.
    private var kind: MailDeliveryError.Kind {
        switch result {
        case CURLE_LOGIN_DENIED, CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CERTPROBLEM:
            // A busy server refuses a login with 4xx (RFC 4954 §6).
            return (code ?? 0) / 100 == 4 ? .unavailable : .misconfigured
        default: break
        }
        switch (conversation.stage, (code ?? 0) / 100) {
        case (.recipient, 5) where code == 530: return .misconfigured
        case (.recipient, 5), (.content, 5): return .refused
        case (.recipient, 4), (.content, 4): return code == 421 ? .unavailable : .deferred
        case (.recipient, _), (.content, _): return conversation.isSent ? .deferred : .unavailable
        // If the server refuses the connection, the login or the sender, the configuration is wrong, not this email.
        case (.connect, 5), (.greeting, 5), (.encryption, 5), (.authentication, 5), (.sender, 5): return .misconfigured
        default: return .unavailable
        }
    }

    /// The message for operators, with advice if the configuration is wrong. The message contains neither the server's reply nor the email,
    /// because both can contain addresses.
    private var message: String {
        let advice =
            switch (kind, result, conversation.stage) {
            case (.misconfigured, CURLE_PEER_FAILED_VERIFICATION, _):
                ": its certificate is not trusted or not for EMAIL_HOST; set other authorities with EMAIL_CA_FILE"
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

/// The progress of the SMTP conversation for one email: the last command, and the server's reply to this command.
///
/// The value stores only the codes of replies, because the texts of replies can contain addresses.
struct SMTPConversation {
    /// A stage of the conversation. The last command determines the stage. Messages for operators contain the raw value.
    enum Stage: String {
        /// Before the first command: name lookup, connection, and TLS from the first byte.
        case connect = "connecting"
        case greeting = "EHLO"
        case encryption = "STARTTLS"
        case authentication = "AUTH"
        case sender = "MAIL FROM"
        case recipient = "RCPT TO"
        case content = "DATA"
    }

    private(set) var stage = Stage.connect
    /// The code of the last reply, such as 550.
    private(set) var code: Int?
    /// The enhanced code of the last reply (RFC 3463), such as 5.1.1.
    private(set) var enhancedCode: String?
    /// Whether QUIT was sent. The reply to QUIT is ignored.
    private var isOver = false
    /// Whether the whole email was sent. The server may then have the email, even if the delivery fails later.
    var isSent = false

    /// Records a command, and removes the codes of the reply to the previous command.
    /// - Parameter line: The beginning of the line that libcurl sent. The method reads only the verb, because the rest may be a secret or
    ///   an address.
    mutating func said(_ line: some StringProtocol) {
        // After a 334 reply, the line is a secret of AUTH, and not a command.
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

    /// Records a line of a reply. The method ignores replies to QUIT and codes outside of 200 to 599.
    /// - Parameter line: The beginning of the line. The method stores the enhanced code only if its class matches the code (RFC 3463 §2).
    mutating func heard(_ line: some StringProtocol) {
        guard !isOver, let code = Int(line.prefix(3)), (200...599).contains(code) else { return }
        self.code = code
        let word = line.dropFirst(4).prefix { $0.isNumber || $0 == "." }
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        let isEnhanced = parts.count == 3 && parts.allSatisfy { (1...3).contains($0.utf8.count) && Int($0) != nil }
        enhancedCode = isEnhanced && parts[0] == "\(code / 100)" ? String(word) : nil
    }
}
