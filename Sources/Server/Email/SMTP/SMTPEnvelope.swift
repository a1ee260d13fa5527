/// What is handed to a mail server: who it is from, who it is for, and the message.
struct SMTPEnvelope: Sendable {
    let sender: String
    let recipient: String
    let message: [UInt8]

    /// Whether the addresses are what a command can carry: no blank, no line end, no bracket, nothing beyond ASCII.
    var isSafe: Bool {
        [sender, recipient].allSatisfy { address in
            address.utf8.count { $0 == UInt8(ascii: "@") } == 1
                && address.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: ">") }
        }
    }
}
