import Logging
import Synchronization

/// A log that stores every line, with its metadata, for tests.
final class CapturedLog: Sendable {
    private let lines = Mutex<[String]>([])

    /// All lines so far.
    var text: String { lines.withLock { $0.joined(separator: "\n") } }

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
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            log.lines.withLock { $0.append("\(event.level) \(event.message) \(all)") }
        }
    }
}
