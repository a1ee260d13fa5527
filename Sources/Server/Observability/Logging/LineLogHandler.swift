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
/// Lines are bounded: the length of the message and of each value, and the number of values. A text that is cut ends in `…`.
///
/// ```swift
/// let logger = Logger(label: "notes") { LineLogHandler(label: $0, format: .json) }
/// logger.info("Server started", metadata: ["http.port": "8080"])
/// ```
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

    public var metadata: Logger.Metadata {
        get { Dictionary(values.map { ($0.key, $0.value) }) { $1 } }
        set { values = newValue.map { ($0.key, $0.value) } }
    }

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

    /// Writes a line to standard error.
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
