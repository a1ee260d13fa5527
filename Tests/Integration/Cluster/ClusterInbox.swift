import Foundation
import MailServerTesting

/// The emails that a cluster has sent, by recipient and kind.
actor ClusterInbox {
    /// The emails to one address.
    struct Mails {
        /// The tokens of the reset links, in the order of their arrival.
        var resets: [String] = []
        /// The number of confirmations of a changed password.
        var updates = 0
    }

    private let server: MailServer
    private var files: Set<String> = []
    private var mails: [String: Mails] = [:]

    init(_ server: MailServer) {
        self.server = server
    }

    /// Returns the emails to an address.
    func mails(to address: String) throws -> Mails {
        for mail in try server.received(besides: files) {
            files.insert(mail.file)
            guard let recipient = mail.recipients.first else { continue }
            let subject = String(decoding: mail.message, as: UTF8.self).split(separator: "\r\n")
                .first { $0.hasPrefix("Subject: ") }
            if subject?.hasPrefix("Subject: Password updated") == true {
                mails[recipient, default: Mails()].updates += 1
            } else {
                let link = try mail.link()
                let items = URLComponents(url: link, resolvingAgainstBaseURL: false)?.queryItems
                guard link.path == "/reset-password", let token = items?.first(where: { $0.name == "token" })?.value else {
                    continue
                }
                mails[recipient, default: Mails()].resets.append(token)
            }
        }
        return mails[address] ?? Mails()
    }
}
