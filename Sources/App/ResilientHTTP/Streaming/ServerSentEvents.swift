public import ErrorContract
public import Foundation
public import HTTPTypes
import Timekeeping

/// The events of an endpoint that sends `text/event-stream`, over several connections.
///
/// The first read connects. If the connection ends or breaks, or if the server sends no byte for too long, the next read waits and connects
/// again. The new request contains the id of the last event in `Last-Event-ID`. The sequence ends when the server responds with 204. If the
/// server refuses permanently, such as with 404, the sequence throws. Each connection is a call of the client, with the session, the gate,
/// the breaker and retries.
///
/// ```swift
/// for try await event in api.events("/notifications") where event.type == "order" {
///     show(event.data)
/// }
/// ```
///
/// Each iterator has its own connections. If the server doesn't support `Last-Event-ID`, events can be lost or repeated between two
/// connections. To continue after a restart of the app, store ``ServerSentEvent/id``. To close the connection, cancel the reading task.
///
/// The connections of an iterator belong to one session. If this session has ended or another one has begun, such as after another user
/// signed in, the sequence doesn't connect again, but throws an error of the kind `unauthorized`. A sign-in doesn't close an open
/// connection.
public struct ServerSentEvents: AsyncSequence, Sendable {
    /// The type of the elements: an event.
    public typealias Element = ServerSentEvent
    /// The error that ended the sequence.
    public typealias Failure = APIError

    /// The rules for reconnections.
    public struct Reconnection: Hashable, Sendable {
        /// The delay before a reconnection if the server sends no delay as `retry:`. The sequence extends the delay by a random part of up
        /// to a quarter.
        public var delay: Duration
        /// The maximum delay after failed connections. The delay doubles with each failed connection, and the sequence shortens each delay
        /// by a random part of up to a half. If the server requests a longer delay with `retry:` or `Retry-After`, the server's delay
        /// applies, but at most an hour.
        public var cap: Duration
        /// The number of consecutive failed connections after which the sequence throws; `nil` for no limit.
        public var maximumFailures: Int?
        /// The maximum delay that the sequence accepts from a server.
        static let longestDelay = Duration.seconds(3_600)

        /// Creates rules.
        /// - Parameters:
        ///   - delay: The delay before a reconnection; positive.
        ///   - cap: The maximum delay after failed connections.
        ///   - maximumFailures: The number of consecutive failed connections after which the sequence throws; `nil` for no limit.
        public init(delay: Duration = .seconds(3), cap: Duration = .seconds(60), maximumFailures: Int? = nil) {
            (self.delay, self.cap, self.maximumFailures) = (delay, cap, maximumFailures)
        }

        /// Returns the delay before a reconnection. The function is pure: the random number is an argument.
        ///
        /// - Parameters:
        ///   - failures: The number of consecutive failed connections.
        ///   - named: The delay that the server sent as `retry:`; `nil` if it sent none.
        ///   - chance: A random number from 0 to 1.
        func pause(failures: Int, named: Duration?, chance: Double) -> Duration {
            // A server may send a delay of zero. Without a minimum, all clients would then reconnect without a pause.
            let delay = named.map { Swift.min(Swift.max($0, .milliseconds(500)), Self.longestDelay) } ?? delay
            let stretched = delay * (1 + chance / 4)
            guard failures > 0 else { return stretched }
            let backoff = Backoff(base: delay, cap: Swift.max(cap, delay))
            return Swift.max(stretched, backoff.pause(beforeRetry: failures, chance: (1 + chance) / 2))
        }
    }

    private let api: APIClient
    private let path: String
    private let headers: HTTPFields
    private let options: CallOptions
    private let lastEventID: String
    private let reconnection: Reconnection
    private let idleTimeout: Duration
    private let context: String?

    init(
        api: APIClient,
        path: String,
        headers: HTTPFields,
        options: CallOptions,
        lastEventID: String,
        reconnection: Reconnection,
        idleTimeout: Duration,
        context: String?
    ) {
        (self.api, self.path, self.headers, self.options) = (api, path, headers, options)
        (self.lastEventID, self.reconnection) = (lastEventID, reconnection)
        (self.idleTimeout, self.context) = (idleTimeout, context)
    }

    /// Creates an iterator. Its first read connects.
    public func makeAsyncIterator() -> Iterator { Iterator(events: self, parser: EventStreamParser(lastEventID: lastEventID)) }

    /// Returns the events of one reader.
    public struct Iterator: AsyncIteratorProtocol {
        private let events: ServerSentEvents
        private var parser: EventStreamParser
        private var chunks: ResponseStream.Iterator?
        private var failures = 0
        /// The delay that the last error requested (`Retry-After`); `nil` if it requested none.
        private var retryAfter: Duration?
        private var isFirst = true
        private var hasEnded = false
        /// The session to which the connections are bound; `nil` before the first connection with a session.
        private var session: String?

        fileprivate init(events: ServerSentEvents, parser: EventStreamParser) {
            (self.events, self.parser) = (events, parser)
        }

        /// Returns the next event, or `nil` if the server has ended the sequence. The method can connect several times before it returns.
        /// - Throws: `APIError` if the server refuses permanently, if too many connections failed, if the session has ended or
        ///   another one has begun, or if the task is canceled. After the error, the sequence has ended.
        public mutating func next() async throws(APIError) -> ServerSentEvent? {
            while !hasEnded {
                if let event = parser.next() { return event }
                do throws(APIError) {
                    guard !parser.isTooLong else { throw APIError(.decoding, context: events.context) }
                    guard try await receive() else { continue }
                } catch {
                    try handle(error)
                }
            }
            return nil
        }

        /// Reads a chunk. If there is no connection, the method connects first.
        ///
        /// - Returns: Whether a chunk was received.
        private mutating func receive() async throws(APIError) -> Bool {
            if chunks == nil {
                try await pause()
                guard let stream = try await connect() else { return false }
                chunks = stream.makeAsyncIterator()
            }
            guard let chunk = try await chunks?.next() else {
                disconnect()
                return false
            }
            parser.append(chunk)
            return true
        }

        /// Ends the connection and drops an incomplete event, as the standard requires. The id of the last event remains, for the next
        /// connection.
        private mutating func disconnect() {
            chunks = nil
            parser = EventStreamParser(lastEventID: parser.lastEventID, retry: parser.retry)
        }

        /// Waits before a reconnection. The wait is the longer of two delays: the delay that the rules determine, and the delay that the
        /// last error requested. The method doesn't delay the first connection.
        private mutating func pause() async throws(APIError) {
            defer { (isFirst, retryAfter) = (false, nil) }
            guard !isFirst else { return }
            let (clock, chance) = (events.api.environment.clock, events.api.environment.chance())
            let pause = events.reconnection.pause(failures: failures, named: parser.retry, chance: chance)
            do {
                try await clock.sleep(until: clock.now + Swift.max(pause, retryAfter ?? .zero))
            } catch {
                throw APIError(error, context: events.context)
            }
        }

        /// Opens a connection.
        /// - Returns: The stream; `nil` if the server has ended the sequence with 204.
        /// - Throws: `APIError` if the response is not a success, or not an event stream.
        private mutating func connect() async throws(APIError) -> ResponseStream? {
            var headers = events.headers.accepting("text/event-stream")
            headers[.cacheControl] = "no-store"
            if !parser.lastEventID.isEmpty {
                headers[values: .lastEventID] = []
                headers.append(HTTPField(name: .lastEventID, lenientValue: Array(parser.lastEventID.utf8)))
            }
            let (path, options, context) = (events.path, events.options, events.context)
            if session == nil { session = try await events.api.sessionID(of: path, options: options, context: context) }
            let transfer = Exchange.Transfer(idleTimeout: events.idleTimeout, returnsStream: true)
            let stream = try await events.api.stream(
                .init(.get, path, [], headers, options, context, transfer: transfer, session: session)
            )
            guard stream.response.status != .noContent else {
                hasEnded = true
                return nil
            }
            let type = stream.response.headerFields[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased()
            guard type == "text/event-stream" else {
                var error = APIError(.decoding, context: events.context)
                error.status = stream.response.status.code
                throw error
            }
            failures = 0
            return stream
        }

        /// Determines whether the sequence connects again after an error.
        ///
        /// - Throws: The given error if the sequence doesn't connect again.
        private mutating func handle(_ error: APIError) throws(APIError) {
            let (wasConnected, error) = (chunks != nil, events.api.localized(error))
            disconnect()
            let isTransient =
                switch error.kind {
                case .cancelled, .decoding: false
                case .network, .timeout, .noInternet, .throttled: true
                default: error.isRetryable
                }
            guard isTransient else {
                hasEnded = true
                throw error
            }
            // The end of a connection that worked is not a failure.
            if !wasConnected { failures += 1 }
            retryAfter = error.retryAfter.map { Swift.min($0, Reconnection.longestDelay) }
            if let most = events.reconnection.maximumFailures, failures >= most {
                hasEnded = true
                throw error
            }
        }
    }
}

extension APIClient {
    /// Receives the events of an endpoint that sends `text/event-stream`, and reconnects when a connection ends.
    ///
    /// The client sends no request before the first read of the sequence.
    /// - Parameters:
    ///   - path: The path, optionally with a query. It is percent-encoded and has no fragment.
    ///   - query: Items that are percent-encoded and appended to the query of the path.
    ///   - headers: Further headers.
    ///   - options: The settings of these calls, such as a timeout.
    ///   - lastEventID: The id after which the events begin, such as an id that the app stored before a restart; empty for none.
    ///   - reconnection: The rules for reconnections.
    ///   - idleTimeout: The maximum time in which no byte is received. After this time, the sequence reconnects. If there are no events,
    ///     the server must send a comment within this time.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Returns: The sequence of events. It throws an `APIError` only if it doesn't reconnect after this error.
    public func events(
        _ path: String,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = CallOptions(),
        lastEventID: String = "",
        reconnection: ServerSentEvents.Reconnection = ServerSentEvents.Reconnection(),
        idleTimeout: Duration = .seconds(60),
        context: String? = nil
    ) -> ServerSentEvents {
        ServerSentEvents(
            api: self,
            path: query.isEmpty ? path : path.appending(query),
            headers: headers,
            options: options,
            lastEventID: lastEventID,
            reconnection: reconnection,
            idleTimeout: idleTimeout,
            context: context
        )
    }
}

/// One event of a `text/event-stream` (WHATWG HTML, server-sent events).
public struct ServerSentEvent: Hashable, Sendable {
    /// The type of the event; `message` if the server sends none.
    public var type: String
    /// The data, with its lines joined by LF.
    public var data: String
    /// The id of this event. If the event has no id, this property contains the id of the last event that had one. It is empty if no event
    /// had an id.
    public var id: String

    /// Creates an event, for the test of code that reads events.
    /// - Parameters:
    ///   - type: The type of the event.
    ///   - data: The data, with its lines joined by LF.
    ///   - id: The id of the event; empty for none.
    public init(type: String = "message", data: String, id: String = "") {
        (self.type, self.data, self.id) = (type, data, id)
    }
}

/// A parser of `text/event-stream`, as defined in WHATWG HTML §9.2.6. The parser is a value without I/O.
struct EventStreamParser {
    /// The id for `Last-Event-ID`.
    private(set) var lastEventID: String
    /// The delay that the server sent as `retry:`, for the next reconnection.
    private(set) var retry: Duration?
    private var lines = LineSplitter(separators: .ascii)
    private var (type, data, id): (String, String, String)
    private var hasData = false
    /// The number of bytes of a byte order mark that the parser has found at the start of the stream; `nil` after the start.
    private var mark: Int? = 0

    /// Creates a parser for the stream of one connection.
    /// - Parameters:
    ///   - lastEventID: The id of the last event of an earlier connection.
    ///   - retry: The delay that the server sent on an earlier connection.
    init(lastEventID: String = "", retry: Duration? = nil) {
        (self.lastEventID, self.retry) = (lastEventID, retry)
        (type, data, id) = ("", "", lastEventID)
    }

    /// Whether a line or the data of an event exceeds the maximum length.
    var isTooLong: Bool { lines.isTooLong || data.utf8.count > LineSplitter.longestLine }

    /// Adds the bytes of a chunk. Drops a byte order mark at the start of the stream, even if the mark is split between two chunks.
    mutating func append(_ chunk: [UInt8]) {
        guard var seen = mark else { return lines.append(chunk) }
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var rest = chunk[...]
        while let byte = rest.first, seen < 3, byte == byteOrderMark[seen] {
            rest = rest.dropFirst()
            seen += 1
        }
        guard seen == 3 || !rest.isEmpty else {
            mark = seen
            return
        }
        mark = nil
        lines.append((seen < 3 ? Array(byteOrderMark.prefix(seen)) : []) + rest)
    }

    /// Returns the next complete event.
    mutating func next() -> ServerSentEvent? {
        while let line = lines.next() {
            if let event = read(line) { return event }
        }
        return nil
    }

    /// Processes one line. Returns the event if the line is empty and therefore ends an event.
    private mutating func read(_ line: ArraySlice<UInt8>) -> ServerSentEvent? {
        guard !line.isEmpty else { return dispatch() }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            set(line, to: "")
            return nil
        }
        // A line that begins with a colon is a comment.
        guard colon > line.startIndex else { return nil }
        var value = line[(colon + 1)...]
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        set(line[..<colon], to: String(decoding: value, as: UTF8.self))
        return nil
    }

    /// Stores the value of a field. Ignores unknown fields, ids with a zero character, and delays that are not numbers.
    private mutating func set(_ field: ArraySlice<UInt8>, to value: String) {
        switch String(decoding: field, as: UTF8.self) {
        case "event": type = value
        case "data":
            data += hasData ? "\n" + value : value
            hasData = true
        case "id": if !value.utf8.contains(0) { id = value }
        case "retry":
            if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let milliseconds = Int64(value) {
                retry = .milliseconds(milliseconds)
            }
        default: break
        }
    }

    /// Ends an event, and returns it. If the event has no data, returns `nil`, but still stores the event's id as the id of the last event.
    private mutating func dispatch() -> ServerSentEvent? {
        lastEventID = id
        defer { (type, data, hasData) = ("", "", false) }
        return hasData ? ServerSentEvent(type: type.isEmpty ? "message" : type, data: data, id: id) : nil
    }
}
