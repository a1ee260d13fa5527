public import AccountContract
public import AccountCore
public import Foundation

/// A delivery that stores each email as an `.eml` file in a folder, for development, demos and tests. To send emails, use ``SMTPDelivery``.
///
/// ```swift
/// let mailbox = try MailboxFolder(directory: folder) { Date() }
/// try await mailbox.deliver(
///     Mail(
///         sender: "Notes <no-reply@example.com>",
///         recipient: EmailAddress("ana@example.com"),
///         subject: "Welcome",
///         text: "Welcome, Ana.",
///         html: "<p>Welcome, Ana.</p>",
///         language: .english
///     )
/// )
/// ```
///
/// The delivery first writes each file under a hidden name and then renames it, so readers never see a part of an email. Only the owner can
/// read the files, because emails contain links that authenticate a user. File names begin with the time, so files sort by time.
///
/// Several tasks and processes can use one folder at the same time. Emails remain until a caller removes them with ``removeMails(to:)``.
public struct MailboxFolder: MailDelivery, SentMailStore {
    /// The folder.
    public let directory: URL
    private let now: @Sendable () -> Date

    /// Opens a folder, and creates it if it is missing. Only the owner can access a new folder (mode 0700).
    /// - Parameters:
    ///   - directory: The folder.
    ///   - now: The wall clock, for the `Date` header and the names of files.
    /// - Throws: The error of `FileManager` if the folder can't be created.
    public init(directory: URL, now: @escaping @Sendable () -> Date) throws {
        self.directory = directory
        self.now = now
        try FileManager.default.createDirectory(
            at: directory,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    /// Writes an email to the folder. The method blocks the thread during the write.
    /// - Throws: `MailDeliveryError` of kind `unavailable` if the file can't be created; the error of `FileManager` if the file can't be
    ///   renamed.
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

    /// Returns the emails, newest first. The method skips files that this type did not write.
    /// - Parameter limit: The largest number of emails.
    /// - Throws: The error of `FileManager` if the folder can't be read.
    /// - Complexity: O(n log n) for n files in the folder. The method reads only the returned emails.
    public func mails(limit: Int = 100) throws -> [StoredMail] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path)
            .filter { $0.hasSuffix(".eml") }
            .sorted(by: >)
            .prefix(limit)
            .compactMap { try? mail(id: String($0.dropLast(4))) }
    }

    /// Returns one email.
    ///
    /// The id can come from a request: the method accepts only hexadecimal digits and hyphens, so an id can't name a file outside of the
    /// folder.
    /// - Parameter id: The file's name without `.eml`.
    /// - Returns: The email; `nil` if no email has that id.
    public func mail(id: String) throws -> StoredMail? {
        guard id.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
        let file = directory.appending(path: "\(id).eml")
        guard let data = FileManager.default.contents(atPath: file.path) else { return nil }
        return StoredMail(id: id, message: String(decoding: data, as: UTF8.self))
    }

    /// Removes all emails to an address, including temporary files that a killed process has left. The method blocks the thread while it
    /// reads all files.
    /// - Parameter address: The address; uppercase and lowercase letters count as equal.
    /// - Throws: The error of `FileManager` if the folder can't be read or a file can't be removed, or `CancellationError`.
    /// - Complexity: O(n) for n files in the folder.
    public func removeMails(to address: EmailAddress) async throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
        where name.hasSuffix(".eml") || name.hasPrefix(".") && name.hasSuffix(".tmp") {
            try Task.checkCancellation()
            try removeMail(in: name, to: address)
        }
    }

    /// Removes a file of the folder if it contains an email to an address. If a delivery has meanwhile renamed the temporary file, the
    /// method removes the email under its final name.
    /// - Parameter name: The name of a temporary or finished file.
    func removeMail(in name: String, to address: EmailAddress) throws {
        let isTemporary = name.hasSuffix(".tmp")
        let finished = "\(name.dropFirst().dropLast(4)).eml"
        let file = directory.appending(path: name)
        guard let data = FileManager.default.contents(atPath: file.path) else {
            if isTemporary { try removeMail(in: finished, to: address) }
            return
        }
        guard Self.recipient(of: data) == address else { return }
        do {
            try FileManager.default.removeItem(at: file)
        } catch CocoaError.fileNoSuchFile {
            // Another process has removed the file, or has renamed it to its final name.
            if isTemporary { try? FileManager.default.removeItem(at: directory.appending(path: finished)) }
        }
    }

    /// Returns the recipient of a message; `nil` if it has no complete header `To`.
    private static func recipient(of message: Data) -> EmailAddress? {
        let lines = String(decoding: message, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
        guard let line = lines.prefix(while: { !$0.isEmpty }).first(where: { $0.hasPrefix("To: ") }) else { return nil }
        return try? EmailAddress(String(line.dropFirst(4)))
    }
}
