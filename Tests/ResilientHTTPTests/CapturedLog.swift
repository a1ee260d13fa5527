import Logging
import Synchronization

/// A log that stores every line, with its metadata, for tests.
final class CapturedLog: Sendable {
    private let all = Mutex<[String]>([])

    /// All lines so far.
    var lines: [String] { all.withLock { $0 } }

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
            let metadata = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            log.all.withLock { $0.append(([event.level.rawValue, "\(event.message)"] + metadata).joined(separator: " ")) }
        }
    }
}
