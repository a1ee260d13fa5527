import AccountContract
import ErrorContract
import Foundation
import Synchronization

/// What a note says. Nothing here knows of errors on the wire: the reader tells every value that does not fit.
struct Note: Codable, Sendable {
    struct Item: Codable, Sendable {
        let text: Title
        let due: Date?
        let tags: [Title]
    }

    let title: Title
    let items: [Item]
}

/// A line of text that is not empty and has at most 80 characters. Being of the type proves it.
struct Title: Codable, Sendable {
    enum Refusal: ContractRefusal {
        case empty, tooLong

        var code: ErrorCode { self == .empty ? .validationMissingField : .validationFieldTooLong }
    }

    let text: String

    init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
        guard !text.isEmpty else { throw Refusal.empty }
        guard text.count <= 80 else { throw Refusal.tooLong }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// The notes, in memory. The first one is locked.
final class NoteShelf: Sendable {
    private let notes = Mutex<[Int: (note: Note, owner: UserID?)]>([:])

    /// Stores a note.
    /// - Parameter owner: The only user who may read and remove it; `nil` for any client.
    /// - Returns: Its number.
    func add(_ note: Note, of owner: UserID?) -> Int {
        notes.withLock { notes in
            let id = notes.count + 2
            notes[id] = (note, owner)
            return id
        }
    }

    /// Returns the notes that a user owns.
    func notes(of owner: UserID) -> [Note] {
        notes.withLock { $0.filter { $0.value.owner == owner }.sorted { $0.key < $1.key }.map(\.value.note) }
    }

    /// Returns a note, as long as it belongs to the user or to no user.
    func note(_ id: Int, for user: UserID?) -> Note? {
        notes.withLock { $0[id].flatMap { $0.owner == nil || $0.owner == user ? $0.note : nil } }
    }

    func remove(_ id: Int, for user: UserID?) throws {
        guard id != 1 else { throw NoteLocked(id: id) }
        if note(id, for: user) != nil { notes.withLock { $0[id] = nil } }
    }
}
