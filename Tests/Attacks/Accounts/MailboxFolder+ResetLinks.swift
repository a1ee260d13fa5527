public import AccountContract
public import Email

extension MailboxFolder {
    /// Returns the reset links that were sent to an address, newest first. Other emails, which an earlier step may have caused, have links
    /// to other pages.
    public func resetLinks(to email: String) throws -> [ResetLink] {
        try mails(limit: 1_000).filter { $0.recipient.lowercased() == email.lowercased() }.compactMap {
            $0.link.flatMap { try? ResetLink($0, hosts: ["127.0.0.1"]) }
        }
    }
}
