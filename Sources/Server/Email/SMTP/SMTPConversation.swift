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
