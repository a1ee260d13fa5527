import Testing

@testable import Email

@Suite struct ConversationTests {
    @Test("Treats everything after AUTH as data, and stores no text of a response")
    func stages() {
        var conversation = SMTPConversation()
        for (said, heard) in [
            ("EHLO example.com\r\n", "250 HELP\r\n"), ("AUTH LOGIN\r\n", "334 VXNlcm5hbWU6\r\n"),
            ("DATA\r\n", "334 UGFzc3dvcmQ6\r\n"), ("MAIL=\r\n", "535 5.7.8 no <ana@example.com>\r\n"),
        ] {
            conversation.said(said)
            conversation.heard(heard)
        }
        #expect(conversation.stage == .authentication)
        #expect(conversation.code == 535)
        #expect(conversation.enhancedCode == "5.7.8")
        #expect(!"\(conversation)".contains("ana@"))
    }

    @Test(
        "Reads an enhanced code only if its class matches that of the response",
        arguments: [
            ("550 5.1.1 no", "5.1.1"), ("550 no such user", nil), ("550 4.1.1 odd", nil), ("550 5.1", nil),
            ("550 5.1.1.1 x", nil),
            ("550 10.0.0.1 is listed", nil), ("550-5.7.26 more follows", "5.7.26"), ("550 5.1111.1 x", nil), ("550", nil),
            ("550 5..1 x", nil),
        ] as [(String, String?)]
    )
    func enhanced(_ line: String, code: String?) {
        var conversation = SMTPConversation()
        conversation.said("RCPT TO:<ana@example.com>")
        conversation.heard(line)
        #expect(conversation.code == 550)
        #expect(conversation.enhancedCode == code)
    }

    @Test("Text that is not a response changes nothing", arguments: ["", "25", "abc", "999 x", "-50 x", "٢٥٠ x", "\0\0\0"])
    func garbage(_ line: String) {
        var conversation = SMTPConversation()
        conversation.heard(line)
        #expect(conversation.code == nil)
    }
}
