/// One event of a `text/event-stream` (WHATWG HTML, server-sent events).
public struct ServerSentEvent: Hashable, Sendable {
    /// The type of the event; `message` if the server names none.
    public var type: String
    /// The data, its lines joined by LF.
    public var data: String
    /// The last id that the server sent, with this event or an earlier one; empty if it sent none.
    public var id: String

    /// Creates an event.
    public init(type: String = "message", data: String, id: String = "") {
        (self.type, self.data, self.id) = (type, data, id)
    }
}

/// Parses a `text/event-stream`, as WHATWG HTML §9.2.6 defines it. A value: it does no I/O.
struct EventStreamParser {
    /// The id for `Last-Event-ID`.
    private(set) var lastEventID: String
    /// The delay before a reconnection that the server named with `retry:`.
    private(set) var retry: Duration?
    private var lines = LineSplitter(separators: .ascii)
    private var (type, data, id): (String, String, String)
    private var hasData = false
    /// The bytes of a byte order mark that were seen at the beginning; `nil` once the beginning is over.
    private var mark: Int? = 0

    /// - Parameter lastEventID: The id that an earlier connection ended with.
    init(lastEventID: String = "", retry: Duration? = nil) {
        (self.lastEventID, self.retry) = (lastEventID, retry)
        (type, data, id) = ("", "", lastEventID)
    }

    /// Whether a line is longer than a reader accepts.
    var isTooLong: Bool { lines.isTooLong || data.utf8.count > LineSplitter.longestLine }

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

    private mutating func dispatch() -> ServerSentEvent? {
        lastEventID = id
        defer { (type, data, hasData) = ("", "", false) }
        return hasData ? ServerSentEvent(type: type.isEmpty ? "message" : type, data: data, id: id) : nil
    }
}
