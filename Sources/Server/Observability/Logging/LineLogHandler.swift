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

    /// A request's logger has few values, and each that is added copies those before: a list takes less than a dictionary.
    private var values: [(key: String, value: Logger.MetadataValue)] = []
    public var logLevel: Logger.Level = .info
    public var metadataProvider: Logger.MetadataProvider?
    private let label: String
    private let format: LogFormat
    private let now: @Sendable () -> Date
    private let sink: Sink

    /// Creates a handler.
    /// - Parameters:
    ///   - label: The logger's.
    ///   - format: The form of the lines.
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
            // A log that nobody takes must not stop the server.
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}

extension Logger {
    /// Where a line's metadata have the id of the request that it belongs to; the name is Hummingbird's.
    public static let requestIDKey = "hb.request.id"
}
