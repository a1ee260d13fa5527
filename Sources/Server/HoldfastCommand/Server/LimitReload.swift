import AccountCore
import Logging
import RateLimiting
import ServerMiddleware
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The bounds of reset emails as they are now.
final class MailBounds: Sendable {
    private let bounds: Mutex<ResetMailBounds>

    init(_ bounds: ResetMailBounds) {
        self.bounds = Mutex(bounds)
    }

    var now: ResetMailBounds {
        get { bounds.withLock { $0 } }
        set { bounds.withLock { $0 = newValue } }
    }
}

/// Reads the limits anew at each SIGHUP, so that they change without a restart and without a fresh burst for anybody.
///
/// Settings that can't be used change nothing: the limits stay as they were, and the log says why.
struct LimitReload: Service, CustomStringConvertible {
    let limits: RateLimits
    let mailBounds: MailBounds
    let logger: Logger
    let read: @Sendable () throws -> LimitSettings
    /// The service group logs its services by their descriptions.
    var description: String { "LimitReload" }

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() { await reload() }
    }

    private func reload() async {
        do {
            let settings = try read()
            for rule in settings.rules { try await limits.change(to: rule) }
            mailBounds.now = settings.resetMails
            logger.notice("Limits were read anew")
        } catch {
            logger.error("Limits stay as they were", metadata: ["error": "\(error)"])
        }
    }
}
