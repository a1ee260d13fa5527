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
    private let notes = Mutex<[Int: Note]>([:])

    /// Keeps a note.
    /// - Returns: Its number.
    func add(_ note: Note) -> Int {
        notes.withLock { notes in
            let id = notes.count + 2
            notes[id] = note
            return id
        }
    }

    func note(_ id: Int) -> Note? { notes.withLock { $0[id] } }

    func remove(_ id: Int) throws {
        guard id != 1 else { throw NoteLocked(id: id) }
        notes.withLock { $0[id] = nil }
    }
}
