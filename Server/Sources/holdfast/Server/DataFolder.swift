import Crypto
import Foundation

/// The folder that holds all that a server keeps: database, local mailbox, secret. Its owner alone may read it.
struct DataFolder: Sendable {
    let url: URL

    var database: URL { Self.database(in: url) }
    var mailbox: URL { url.appending(path: "mailbox") }
    var limitJournal: URL { url.appending(path: "limits.journal") }

    /// Where the database of a folder is.
    static func database(in folder: URL) -> URL { folder.appending(path: "holdfast.sqlite3") }

    /// Opens the folder, creating it if need be.
    init(_ url: URL) throws {
        self.url = url
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        // SQLite gives its WAL the permissions of the database.
        try Self.createExclusively(database, contents: Data())
    }

    /// The secret of this folder: 256 random bits that are made once.
    /// - Throws: ``UnreadableSecret``.
    func secret() throws -> SymmetricKey {
        let fresh = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        try Self.createExclusively(Self.secretFile(in: url), contents: Data(fresh.base64EncodedString().utf8))
        guard let secret = try Self.existingSecret(in: url) else { throw UnreadableSecret(path: Self.secretFile(in: url).path) }
        return secret
    }

    /// The secret that a folder has; `nil` if it has none yet.
    /// - Throws: ``UnreadableSecret``.
    static func existingSecret(in folder: URL) throws -> SymmetricKey? {
        let file = secretFile(in: folder)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        guard let text = try? Data(contentsOf: file),
            let bytes = Data(
                base64Encoded: String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
            ),
            bytes.count >= 32
        else { throw UnreadableSecret(path: file.path) }
        return SymmetricKey(data: bytes)
    }

    private static func secretFile(in folder: URL) -> URL { folder.appending(path: "secret") }

    /// Creates a file unless it is there, also when two processes try at once.
    private static func createExclusively(_ file: URL, contents: Data) throws {
        guard !FileManager.default.fileExists(atPath: file.path) else { return }
        let draft = file.deletingLastPathComponent().appending(path: ".\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: draft) }
        guard FileManager.default.createFile(atPath: draft.path, contents: contents, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteNoPermission) }
        do {
            try FileManager.default.linkItem(at: draft, to: file)
        } catch  where FileManager.default.fileExists(atPath: file.path) {
            return
        }
    }
}

/// The secret's file is damaged, or can't be read.
struct UnreadableSecret: Error, CustomStringConvertible {
    let path: String

    var problem: String { "\(path) does not hold a secret that can be read" }
    let remedy = "restore it, or remove it to sign everybody out and begin anew"

    var description: String { "\(problem); \(remedy)" }
}
