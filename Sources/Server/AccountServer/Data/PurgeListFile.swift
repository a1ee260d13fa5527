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
    /// A crash or a full disk can interrupt a call in the middle of a line. The next call removes the incomplete line.
    ///
    /// The method blocks the thread for the duration of the write, and while another process adds lines.
    /// - Throws: `POSIXError`, or another error of the file system.
    package func append(_ purges: [ListedPurge]) async throws {
        let descriptor = open(url.path, O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // Without the lock, this process could remove a line that another process is writing. Closing the file releases the lock.
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        }
        let separator = try Self.repairEnd(of: file)
        let text = purges.map { $0.line + "\n" }.joined()
        try file.write(contentsOf: Data((separator + text).utf8))
        try file.synchronize()
        try file.close()
    }

    /// Removes an incomplete line at the end of the file. Otherwise, the next line would continue the incomplete line, and the list would
    /// be unreadable.
    ///
    /// The removed line contains no information: `AccountPurge` marks an account as listed only after its line is complete, so a later call
    /// adds the account again.
    /// - Returns: The text that must precede the next line: a line break if the file ends with a complete line without a line break.
    private static func repairEnd(of file: FileHandle) throws -> String {
        let end = try file.seekToEnd()
        let start = end - min(end, 4_096)
        try file.seek(toOffset: start)
        let tail = [UInt8](try file.readToEnd() ?? Data())
        guard let last = tail.last, last != UInt8(ascii: "\n") else { return "" }
        let lineBreak = tail.lastIndex(of: UInt8(ascii: "\n"))
        // A line without a beginning in the tail is longer than all lines of this type, so it is not an incomplete line.
        guard lineBreak != nil || start == 0 else { return "\n" }
        let begin = lineBreak.map { $0 + 1 } ?? 0
        guard ListedPurge(line: String(decoding: tail[begin...], as: UTF8.self)) == nil else { return "\n" }
        try file.truncate(atOffset: start + UInt64(begin))
        return ""
    }

    /// Returns the lines of a list. Each line can end with LF or CR LF.
    /// - Throws: ``UnreadablePurgeList`` if the file can't be read, or if a line has another format.
    package static func read(_ file: URL) throws -> [ListedPurge] {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            throw UnreadablePurgeList(description: "\(file.path) can't be read")
        }
        // CR LF is one character, which is not equal to LF.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return try lines.enumerated().compactMap { index, line in
            guard !line.allSatisfy(\.isWhitespace) else { return nil }
            guard let purge = ListedPurge(line: String(line)) else {
                throw UnreadablePurgeList(description: "line \(index + 1) of \(file.path) is not a time and an id")
            }
            return purge
        }
    }
}

extension ListedPurge {
    /// The line of the list, without its end.
    package var line: String { "\(purgedAt.formatted(.iso8601)) \(id)" }

    /// Reads a line of the list; `nil` if the line is not a time and an id.
    fileprivate init?(line: String) {
        let parts = line.split(whereSeparator: \.isWhitespace)
        guard parts.count == 2, let time = try? Date(String(parts[0]), strategy: .iso8601),
            let id = UUID(uuidString: String(parts[1]))
        else { return nil }
        self.init(id: Account.ID(rawValue: id), purgedAt: time)
    }
}

/// An error: the list of removed accounts can't be read completely.
package struct UnreadablePurgeList: Error, CustomStringConvertible {
    package let description: String
}
