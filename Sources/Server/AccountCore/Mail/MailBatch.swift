import Synchronization

/// The intents that may be taken between two pauses, shared by those who take them.
final class MailBatch: Sendable {
    private let size: Int
    private let count = Mutex(0)

    init(size: Int) {
        self.size = size
    }

    /// How many were taken.
    var taken: Int { count.withLock { $0 } }

    /// Takes one, if there is room.
    func take() -> Bool {
        count.withLock { count in
            guard count < size else { return false }
            count += 1
            return true
        }
    }

    /// Gives one back for which there was no intent.
    func giveBack() {
        count.withLock { $0 -= 1 }
    }
}
