import Hummingbird
import Logging
import Observability

/// A log handler that adds the id of a request to the metadata of another handler.
///
/// Many handlers copy and format all their metadata at each change. This takes several thousand instructions, but most requests write no
/// line. Therefore, this handler adds the id only when it writes a line or when other code changes the metadata.
struct RequestLogHandler: LogHandler {
    private var base: any LogHandler
    /// The id of the request; `nil` if the metadata of `base` already contains the id, or if other code has replaced the id.
    private var id: String?

    /// Creates a handler that writes the lines of `base` with the id of a request.
    init(_ base: any LogHandler, id: String) {
        (self.base, self.id) = (base, id)
    }

    /// The lowest level that `base` writes.
    var logLevel: Logger.Level {
        get { base.logLevel }
        set { base.logLevel = newValue }
    }

    /// The metadata provider of `base`.
    var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    /// The metadata of `base` and the id.
    var metadata: Logger.Metadata {
        get { settled.metadata }
        set {
            base.metadata = newValue
            id = nil
        }
    }

    /// The value of a key in the metadata.
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get {
            if let id, key == Logger.requestIDKey { return .string(id) }
            return base[metadataKey: key]
        }
        set {
            base = settled
            base[metadataKey: key] = newValue
            id = nil
        }
    }

    /// Writes an event with the id in its metadata.
    func log(event: LogEvent) {
        settled.log(event: event)
    }

    /// A copy of `base` whose metadata contains the id.
    private var settled: any LogHandler {
        guard let id else { return base }
        var handler = base
        handler[metadataKey: Logger.requestIDKey] = .string(id)
        return handler
    }
}

extension RequestContext {
    /// Adds the id of the request to each line that the context's logger writes.
    mutating func setRequestID(_ id: String) {
        let logger = self.logger
        self.logger = Logger(label: logger.label) { _ in RequestLogHandler(logger.handler, id: id) }
    }
}
