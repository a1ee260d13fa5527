public import Foundation
public import Logging

/// The format of log lines.
public enum LogFormat: String, Hashable, Sendable, CaseIterable {
    /// For terminals: time, level, label, message, and metadata as `key=value`.
    case text
    /// For programs: one JSON object per line.
    case json
}

/// A log handler that writes each event as one line, and masks values that look like a secret or an address.
///
/// ```swift
/// let logger = Logger(label: "notes") { LineLogHandler(label: $0, format: .json) }
/// logger.info("Server started", metadata: ["http.port": "8080"])
/// ```
///
/// Lines are bounded: the message to 4,096 bytes, each value to 1,024 bytes, and the metadata to 64 values. A text that is cut ends in `…`.
/// Characters that could begin another line or control a terminal are escaped, so a client can't forge log lines.
///
/// Writing is synchronous: a slow reader of standard error delays the caller. If standard error is closed, lines are dropped.
public struct LineLogHandler: LogHandler {
    /// Writes a line, which has no line end.
    public typealias Sink = @Sendable (String) -> Void

    /// A list, not a dictionary: a request's logger has few values, and each change copies them, which is faster for a list.
    private var values: [(key: String, value: Logger.MetadataValue)] = []
    public var logLevel: Logger.Level = .info
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let format: LogFormat
    private let now: @Sendable () -> Date
    private let sink: Sink

    /// Creates a handler.
    /// - Parameters:
    ///   - label: The label of the logger.
    ///   - format: The format of the lines.
    ///   - now: The wall clock.
    ///   - sink: Writes a line; by default to standard error, each by one system call.
    public init(
        label: String,
        format: LogFormat,
        now: @escaping @Sendable () -> Date = { Date() },
        sink: @escaping Sink = LineLogHandler.standardError
    ) {
        (self.label, self.format, self.now, self.sink) = (label, format, now, sink)
    }

    /// A value of the logger's metadata.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { values.first { $0.key == key }?.value }
        set {
            switch (values.firstIndex { $0.key == key }, newValue) {
            case (let index?, let value?): values[index].value = value
            case (let index?, nil): values.remove(at: index)
            case (nil, let value?): values.append((key, value))
            case (nil, nil): break
            }
        }
    }

    /// The logger's metadata. Reading it builds a dictionary.
    public var metadata: Logger.Metadata {
        get { Dictionary(values.map { ($0.key, $0.value) }) { $1 } }
        set { values = newValue.map { ($0.key, $0.value) } }
    }

    /// Writes an event. Of equal keys, the event's value wins over the provider's, and that over the logger's.
    public func log(event: LogEvent) {
        let line = LogLine(
            time: now(),
            level: event.level,
            label: label,
            message: event.message.description,
            metadata: [event.metadata, metadataProvider?.get()],
            values: values
        )
        sink(format == .json ? line.json : line.text)
    }

    /// Writes a line to standard error, by one system call unless it is interrupted. On Linux, a line of up to 4,096 bytes is written to a
    /// pipe as a whole.
    public static let standardError: Sink = { line in
        var bytes = Array(line.utf8)
        bytes.append(UInt8(ascii: "\n"))
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            // If nothing reads the log, the server must continue.
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}

extension Logger {
    /// The key of the request's id in a line's metadata; defined by Hummingbird.
    public static let requestIDKey = "hb.request.id"
}
