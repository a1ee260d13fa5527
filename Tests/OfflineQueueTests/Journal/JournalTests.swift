import Foundation
import OfflineQueue
import Testing

/// A state that keeps all frames.
struct AllFrames: JournalState {
    var frames: [JournalFrame] = []
    var liveBytes = 0

    mutating func restart() { self = AllFrames() }

    mutating func apply(_ frame: JournalFrame) {
        frames.append(frame)
        liveBytes += frame.header.storedSize
    }

    func keeps(_ frame: JournalFrameHeader) -> Bool { true }
}

@Suite struct JournalTests {
    @Test("Finds the frames of a transaction after the journal is opened again") func reopens() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UInt32.random(in: 0 ... .max))").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let journal = try await Journal.open(folder, state: AllFrames())
        try await journal.transact(durability: .powerLoss) { _, transaction in
            transaction.append(kind: 1, payload: [1, 2, 3])
            transaction.append(kind: 2, payload: [])
        }
        let other = try await Journal.open(folder, state: AllFrames())
        #expect(other.withState { $0.frames.map(\.payload) } == [[1, 2, 3], []])
        try await journal.transact { _, transaction in transaction.append(kind: 1, payload: [4]) }
        try await other.transact { state, _ in #expect(state.frames.map(\.payload) == [[1, 2, 3], [], [4]]) }
        #expect(try other.payload(of: 3) == [4])
    }
}
