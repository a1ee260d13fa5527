import GRDB
import Synchronization

/// Whether the file takes writes, as far as the last one told.
final class WriteHealth: Sendable {
    private let failing = Atomic(false)

    /// Whether the last write that says something of the file failed.
    var isFailing: Bool { failing.load(ordering: .relaxed) }

    func succeeded() {
        if isFailing { failing.store(false, ordering: .relaxed) }
    }

    /// Notes an error, unless it is the statement's own, such as a constraint.
    func failed(_ error: DatabaseError) {
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_PERM,
            .SQLITE_NOMEM, .SQLITE_BUSY, .SQLITE_LOCKED:
            failing.store(true, ordering: .relaxed)
        default: break
        }
    }
}
