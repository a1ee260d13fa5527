public import AccountCore
public import Foundation

/// A folder in which each email is an `.eml` file: the local mailbox of development, demo and tests.
///
/// Files are written atomically and are only readable by their owner. Their names sort by time.
public struct MailboxFolder: MailDelivery {
    /// The folder.
    public let directory: URL
    private let now: @Sendable () -> Date

    /// Creates the folder if it is missing.
    /// - Parameters:
    ///   - directory: The folder.
    ///   - now: The wall clock.
    public init(directory: URL, now: @escaping @Sendable () -> Date) throws {
        self.directory = directory
        self.now = now
        try FileManager.default.createDirectory(
            at: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    public func deliver(_ mail: Mail) async throws {
        let date = now()
        let unique = UUID().uuidString.lowercased()
        let stamp = String(Int64(date.timeIntervalSince1970 * 1_000))
        let name = String(repeating: "0", count: max(0, 15 - stamp.count)) + stamp + "-" + unique
        let message = MIMEMessage(mail: mail, date: date, id: unique).text
        let hidden = directory.appending(path: ".\(name).tmp")
        let isWritten = FileManager.default.createFile(
            atPath: hidden.path,
            contents: Data(message.utf8),
            attributes: [.posixPermissions: 0o600]
        )
        guard isWritten else { throw MailDeliveryError(.unavailable, message: "the mailbox folder can't be written") }
        try FileManager.default.moveItem(at: hidden, to: directory.appending(path: "\(name).eml"))
    }

    /// Returns the emails, newest first.
    /// - Parameter limit: The largest number of emails.
    public func mails(limit: Int = 100) throws -> [StoredMail] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path)
            .filter { $0.hasSuffix(".eml") }
            .sorted(by: >)
            .prefix(limit)
            .compactMap { try? mail(id: String($0.dropLast(4))) }
    }

    /// Returns one email.
    /// - Parameter id: The file's name without `.eml`.
    /// - Returns: The email; `nil` if there is none with that id.
    public func mail(id: String) throws -> StoredMail? {
        guard id.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
        let file = directory.appending(path: "\(id).eml")
        guard let data = FileManager.default.contents(atPath: file.path) else { return nil }
        return StoredMail(id: id, message: String(decoding: data, as: UTF8.self))
    }
}
