public import Foundation
public import Logging

/// The format of log lines. Choose ``text`` for reading in a terminal, and ``json`` for a log collector.
public enum LogFormat: String, Hashable, Sendable, CaseIterable {
    /// For terminals: time, level, label, message, and metadata as `key=value`. Values are not quoted, so a program can't parse the line
    /// reliably.
    case text
    /// For programs: one JSON object per line with `time`, `level`, `message`, `label`, `request_id` and `metadata`. The line omits
    /// `request_id` and `metadata` if they are empty.
    case json
}

/// A log handler that writes each event as one line, and masks parts that have the form of a secret or an email address.
///
/// ```swift
/// let logger = Logger(label: "notes") { LineLogHandler(label: $0, format: .json) }
/// logger.info("Server started", metadata: ["http.port": "8080"])
/// ```
///
/// A line in the format ``LogFormat/text`` has this form:
///
/// ```
/// 2026-11-21T10:25:30.250Z info notes: Server started http.port=8080
/// ```
///
/// Times are in UTC, and metadata is sorted by key. The size of a line is limited: the message to 4,096 bytes, each value to 1,024 bytes,
/// and the metadata to 64 values. A cut text ends in `…`. The handler escapes characters that could begin another line or control a
/// terminal, so a client can't forge log lines.
///
/// The handler writes synchronously, so a slow reader of standard error delays the caller. If standard error is closed, the handler drops
/// lines. A handler is a value, so several threads can use copies of a logger.
public struct LineLogHandler: LogHandler {
    /// A function that writes a line. The handler passes the line without a line break at its end. Several threads can call the function at
    /// the same time.
    public typealias Sink = @Sendable (String) -> Void

    /// The logger's metadata, as an array. A change of the metadata copies all values, and a few values are faster to copy in an array than
    /// in a dictionary.
    private var values: [(key: String, value: Logger.MetadataValue)] = []
    /// The lowest level that the handler writes; `info` by default.
    public var logLevel: Logger.Level = .info
    /// Returns metadata for each event, such as a trace id. Its values take precedence over the logger's values.
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
    ///   - sink: Writes a line. The default writes each line to standard error with one system call.
    public init(
        label: String,
        format: LogFormat,
        now: @escaping @Sendable () -> Date = { Date() },
        sink: @escaping Sink = LineLogHandler.standardError
    ) {
        (self.label, self.format, self.now, self.sink) = (label, format, now, sink)
    }

    /// The value of a key in the logger's metadata. Setting `nil` removes the key.
    /// - Complexity: O(number of values).
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

    /// The logger's metadata. Each read creates a dictionary.
    public var metadata: Logger.Metadata {
        get { Dictionary(values.map { ($0.key, $0.value) }) { $1 } }
        set { values = newValue.map { ($0.key, $0.value) } }
    }

    /// Writes an event. If the event, the metadata provider and the logger have values for the same key, the order of precedence is: the
    /// event, the provider, the logger.
    /// - Parameter event: The event. The caller has already compared its level with ``logLevel``.
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

    /// Writes a line to standard error. The function uses one system call, unless the call is interrupted. Linux writes up to 4,096 bytes
    /// to a pipe as a whole, so lines of up to this length from several processes don't mix. If standard error is closed, the function
    /// drops the line.
    public static let standardError: Sink = { line in
        var bytes = Array(line.utf8)
        bytes.append(UInt8(ascii: "\n"))
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            // The server must continue even if no process reads the log.
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}

extension Logger {
    /// The metadata key of the request's id, which Hummingbird defines. A line contains this id as `request_id`.
    public static let requestIDKey = "hb.request.id"
}
