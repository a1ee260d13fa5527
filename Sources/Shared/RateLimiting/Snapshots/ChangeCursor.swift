import Synchronization

/// Where among a limiter's locks the next taking of changes begins, so that none is always last.
final class ChangeCursor: Sendable {
    private let position = Mutex(0)

    /// The next place of so many, once for each call.
    func next(of count: Int) -> Int {
        position.withLock { position in
            position = position + 1 < count ? position + 1 : 0
            return position
        }
    }
}
