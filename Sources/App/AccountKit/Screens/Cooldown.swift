import Observation
import Timekeeping

/// The time after an accepted request during which a screen sends no further request.
///
/// It prevents a user who is waiting for an email from requesting several emails. It is independent of the server's rate limits.
@Observable
@MainActor
final class Cooldown {
    /// The length: 60 s.
    nonisolated static let length = Duration.seconds(60)

    /// The seconds until the end; 0 if there is no cooldown. ``run()`` updates the value.
    private(set) var secondsLeft = 0
    private let clock: MonotonicClock
    @ObservationIgnored private var end: Duration?

    /// Creates a cooldown that has not begun.
    init(_ clock: MonotonicClock) { self.clock = clock }

    /// Begins a new cooldown.
    func start() {
        end = clock.now + Self.length
        update()
    }

    /// Updates ``secondsLeft`` once per second, and returns when it is 0. If the task is canceled, the method returns early, but the
    /// cooldown continues. Call the method again to continue the updates.
    func run() async {
        update()
        while secondsLeft > 0, let end {
            do {
                try await clock.sleep(until: end - .seconds(secondsLeft - 1))
            } catch {
                return
            }
            update()
        }
    }

    /// Computes ``secondsLeft`` from the clock, and ends the cooldown at 0. The method assigns the value only if it changes, because each
    /// assignment updates the views.
    func update() {
        let left = end.map { max(0, ($0 - clock.now).wholeSecondsRoundedUp) } ?? 0
        if left == 0 { end = nil }
        if left != secondsLeft { secondsLeft = left }
    }
}
