package import AccountCore
package import Foundation

/// The list of removed accounts, as a file outside the database: `purged-accounts.txt` in the data folder.
///
/// Each line has the time of the removal (UTC) and the id of the account. The file only grows, and only its owner can read it. Store copies
/// of this file with the backups. After a restore, `holdfast purge --reapply` uses the list to remove the accounts again.
package struct PurgeListFile: PurgeList {
    /// The name of the file in the data folder.
    package static let name = "purged-accounts.txt"

    /// The file.
    package let url: URL

    /// Creates a list that is stored in the given file. The file itself is created when the server removes the first account.
    package init(_ url: URL) {
        self.url = url
    }

    /// Adds lines to the list. When this method returns, the lines are on the disk. Several processes can add lines at the same time.
    ///
    /// The method blocks the thread for the duration of the write.
    /// - Throws: `POSIXError`.
    package func append(_ purges: [ListedPurge]) async throws {
        let text = purges.map { $0.line + "\n" }.joined()
        let descriptor = open(url.path, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data(text.utf8))
        try file.synchronize()
        try file.close()
    }

    /// Returns the lines of a list.
    /// - Throws: ``UnreadablePurgeList`` if the file can't be read, or if a line has another format.
    package static func read(_ file: URL) throws -> [ListedPurge] {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            throw UnreadablePurgeList(description: "\(file.path) can't be read")
        }
        return try text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            let parts = line.split(whereSeparator: \.isWhitespace)
            guard !parts.isEmpty else { return nil }
            guard parts.count == 2, let time = try? Date(String(parts[0]), strategy: .iso8601),
                let id = UUID(uuidString: String(parts[1]))
            else {
                throw UnreadablePurgeList(description: "line \(index + 1) of \(file.path) is not a time and an id")
            }
            return ListedPurge(id: Account.ID(rawValue: id), purgedAt: time)
        }
    }
}

extension ListedPurge {
    /// The line of the list, without its end.
    package var line: String { "\(purgedAt.formatted(.iso8601)) \(id)" }
}

/// An error: the list of removed accounts can't be read completely.
package struct UnreadablePurgeList: Error, CustomStringConvertible {
    package let description: String
}
