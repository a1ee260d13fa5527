public import Foundation
public import Logging

/// How a log is written.
public enum LogFormat: String, Hashable, Sendable, CaseIterable {
    /// For people: time, level, label, message, metadata as `key=value`.
    case text
    /// For programs: an object of JSON for each line.
    case json
}

/// Writes each event as one line, whatever is in it, and masks what looks like a secret or an address.
///
/// A line is bounded: its message, each value and the number of values; what is cut ends in `…`.
public struct LineLogHandler: LogHandler {
    /// Takes a line without its end.
    public typealias Sink = @Sendable (String) -> Void

    public var metadata: Logger.Metadata = [:]
    public var logLevel: Logger.Level = .info
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let format: LogFormat
    private let now: @Sendable () -> Date
    private let sink: Sink

    /// Creates a handler.
    /// - Parameters:
    ///   - label: The logger's.
    ///   - now: The wall clock.
    ///   - sink: Where lines go; standard error if not given, each by one call of the system.
    public init(
        label: String,
        format: LogFormat,
        now: @escaping @Sendable () -> Date = { Date() },
        sink: @escaping Sink = LineLogHandler.standardError
    ) {
        (self.label, self.format, self.now, self.sink) = (label, format, now, sink)
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let own = event.metadata { all.merge(own) { $1 } }
        let line = LogLine(time: now(), level: event.level, label: label, message: event.message.description, metadata: all)
        sink(format == .json ? line.json : line.text)
    }

    /// Writes a line to standard error.
    public static let standardError: Sink = { line in
        var bytes = Array(line.utf8)
        bytes.append(UInt8(ascii: "\n"))
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            // A log that nobody takes must not stop the server.
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}
