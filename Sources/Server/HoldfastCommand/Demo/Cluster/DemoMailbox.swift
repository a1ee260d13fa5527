import AccountContract
import Email
import Foundation
import Synchronization

/// The emails that the servers of a cluster have delivered. `counts()` reads each file once.
final class DemoMailbox: Sendable {
    private struct State {
        var read: Set<String> = []
        var counts: [String: Int] = [:]
    }

    private let folder: MailboxFolder
    private let state = Mutex(State())

    init(folder: URL) throws {
        self.folder = try MailboxFolder(directory: folder) { Date() }
    }

    /// Returns the number of emails with a reset link for each recipient.
    func counts() throws -> [String: Int] {
        let ids = try FileManager.default.contentsOfDirectory(atPath: folder.directory.path)
            .filter { $0.hasSuffix(".eml") }
            .map { String($0.dropLast(4)) }
        return try state.withLock { state in
            for id in ids where !state.read.contains(id) {
                guard let mail = try folder.mail(id: id) else { continue }
                state.read.insert(id)
                if mail.isReset { state.counts[mail.recipient, default: 0] += 1 }
            }
            return state.counts
        }
    }

    /// Returns the newest reset link to a recipient.
    func link(to recipient: String) throws -> URL? {
        try folder.mails().first { $0.recipient == recipient && $0.isReset }?.link
    }
}

extension StoredMail {
    /// Whether the email has a reset link.
    fileprivate var isReset: Bool { link.flatMap { try? ResetLink($0, hosts: ["127.0.0.1"]) } != nil }
}
