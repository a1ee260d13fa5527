import Logging
import Synchronization

/// A log that stores every line, with its metadata, for tests.
final class CapturedLog: Sendable {
    /// An event and the metadata of its logger. The text is composed when a test reads it: a server logs several events per request, and
    /// most tests read none.
    private struct Entry {
        let level: Logger.Level
        let message: Logger.Message
        let common: Logger.Metadata
        let metadata: Logger.Metadata?

        var line: String { "\(level) \(message) \(common.merging(metadata ?? [:]) { $1 })" }
    }

    private let entries = Mutex<[Entry]>([])

    /// All lines so far.
    var text: String { entries.withLock { $0 }.map(\.line).joined(separator: "\n") }

    /// A logger that writes to this log, at every level.
    var logger: Logger {
        var logger = Logger(label: "test") { [self] _ in Handler(log: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let log: CapturedLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let entry = Entry(level: event.level, message: event.message, common: metadata, metadata: event.metadata)
            log.entries.withLock { $0.append(entry) }
        }
    }
}
