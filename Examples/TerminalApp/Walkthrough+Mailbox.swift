import AccountContract
import AccountKit
import Foundation
import ResilientHTTP

extension Walkthrough {
    private struct Mailbox: Decodable {
        struct Item: Decodable {
            let recipient: String
            let subject: String
            let link: String?
        }

        let messages: [Item]
    }

    /// The link of the newest mail to an address, once the server has handed it over.
    func mailedLink(to email: EmailAddress) async throws -> URL {
        for _ in 0..<200 {
            let mailbox: Mailbox = try await app.client.api.get("/dev/mailbox")
            let mail = mailbox.messages.first { $0.recipient.contains(email.text) && $0.link != nil }
            if let mail, let link = mail.link.flatMap(URL.init(string:)) {
                Terminal.say("  “\(mail.subject)”: \(link.host ?? "")\(link.path)")
                return link
            }
            try await Task.sleep(for: .milliseconds(25))
        }
        throw Unexpected(description: "no mail came within five seconds")
    }
}
