import Synchronization

/// At most so many requests at once. A few more wait for their turn, first come, first served, and not for long.
final class InFlightLimit: Sendable {
    /// Why a request is not let in.
    enum Refusal: String, Error, CaseIterable {
        /// Too many wait already.
        case full
        /// It waited too long.
        case late
    }

    private typealias Turn = FirstOutcome<Void>

    private struct State {
        var running = 0
        var line: [(id: UInt64, turn: Turn)] = []
        var lastID: UInt64 = 0
    }

    private let limit: Int
    private let maximumWaiting: Int
    private let longestWait: Duration
    private let deadlines: Deadlines
    private let state = Mutex(State())

    init(_ limit: Int, waiting: Int, longestWait: Duration, deadlines: Deadlines) {
        (self.limit, maximumWaiting, self.longestWait, self.deadlines) = (limit, waiting, longestWait, deadlines)
    }

    /// How many run and wait.
    var load: (running: Int, waiting: Int) { state.withLock { ($0.running, $0.line.count) } }

    /// Runs an operation when there is room. O(1) if there is, else O(waiting).
    /// - Throws: ``Refusal``; `CancellationError` if the task is cancelled before its turn; errors of the operation are passed on.
    func run<Result>(_ operation: () async throws -> Result) async throws -> Result {
        try await enter()
        defer { leave() }
        return try await operation()
    }

    private func enter() async throws {
        try Task.checkCancellation()
        let place = try state.withLock { state throws(Refusal) -> (id: UInt64, turn: Turn)? in
            if state.running < limit {
                state.running += 1
                return nil
            }
            guard state.line.count < maximumWaiting else { throw .full }
            state.lastID += 1
            state.line.append((state.lastID, Turn()))
            return state.line.last
        }
        guard let place else { return }
        // The turn, the deadline and the cancellation: whoever claims first is the one that counts, so no room is lost.
        let give = { @Sendable [self] (error: any Error) in
            guard place.turn.claim() else { return }
            state.withLock { $0.line.removeAll { $0.id == place.id } }
            place.turn.tell(.failure(error))
        }
        let deadline = deadlines.add(after: longestWait) { give(Refusal.late) }
        defer { deadlines.remove(deadline) }
        try await withTaskCancellationHandler {
            try await place.turn.value()
        } onCancel: {
            give(CancellationError())
        }
    }

    /// Hands the room to the first who still waits, or gives it back.
    private func leave() {
        let next = state.withLock { state -> Turn? in
            while !state.line.isEmpty {
                let first = state.line.removeFirst()
                if first.turn.claim() { return first.turn }
            }
            state.running -= 1
            return nil
        }
        next?.tell(.success(()))
    }
}
