import PrivateFiles

/// A segment (a new file for the frames of a journal) that is being written, under a random name. When the whole segment is on the medium,
/// it gets the journal's name. After a crash, the folder therefore has either the old journal or the new one.
struct SegmentDraft: Sendable {
    static let suffix = ".new"

    let file: any JournalFile
    private let path: String
    private let journal: String
    private let files: any JournalFileSystem

    /// Creates the file of the segment, which is still empty.
    /// - Parameter journal: The path of the journal.
    init(_ journal: String, files: any JournalFileSystem) throws(FileFailure) {
        (self.journal, self.files) = (journal, files)
        path = "\(journal).\(String(UInt64.random(in: 0 ... .max), radix: 16))\(Self.suffix)"
        file = try files.open(path, creating: true)
    }

    /// Writes the header, syncs the file and gives the file the journal's name. The new name survives a loss of power only after the folder
    /// is synced. If a step fails, the method removes the draft.
    func complete(_ header: SegmentHeader) throws(FileFailure) {
        do throws(FileFailure) {
            try file.writeAll(header.bytes, at: 0)
            try file.writeAll(header.bytes, at: SegmentHeader.copyOffset)
            _ = try file.syncAll()
            try files.rename(path, to: journal)
        } catch {
            remove()
            throw error
        }
    }

    /// Removes the draft.
    func remove() { try? files.remove(path) }
}
