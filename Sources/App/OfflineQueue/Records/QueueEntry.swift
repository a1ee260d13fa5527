/// One change of the queue. Each entry is one frame (record) of the ``Journal``, the file of the queue. All processes that share a queue
/// apply the same entries in the same order.
///
/// The identifier of a request is the sequence number of the frame that stored the request. An entry with new content also contains the
/// header of the request. A compaction can therefore keep only the frame of this entry, and drop the earlier frames of the request.
enum QueueEntry: Hashable, Sendable {
    /// A request was stored.
    case stored(RequestHeader, content: SealedContent)
    /// The content of a pending request that was not sent yet was replaced.
    case replaced(QueuedRequestID, RequestHeader, content: SealedContent)
    /// An attempt began. From now on, bytes of the request may reach the server.
    case attempted(QueuedRequestID, QueueTime)
    /// An attempt ended. Either the server surely did not perform the request, or the server failed while it performed the request.
    case settled(QueuedRequestID, Settlement)
    /// The server performed the request.
    case delivered(QueuedRequestID)
    /// The request became a dead letter.
    case buried(QueuedRequestID, Burial)
    /// A dead letter was put back into its lane, with a new idempotency key.
    case revived(QueuedRequestID, RequestHeader, content: SealedContent)
    /// The app removed a request or a dead letter.
    case removed(QueuedRequestID)
    /// The app removed all requests and dead letters of an owner.
    case discarded(QueueOwner)
    /// A process took or renewed the role of the sender. If the duration is 0, the process gave up the role.
    case leased(holder: UInt64, QueueTime, milliseconds: Int64)

    /// The known result of an attempt whose request was neither delivered nor refused.
    enum Settlement: UInt8, Sendable {
        /// No byte of the request reached a server, so the attempt doesn't count.
        case neverSent
        /// A server or a proxy refused the request before the server performed it, such as with 429 or 503.
        case notPerformed
        /// The server failed while it performed the request, such as with 500.
        case failed
    }
}

/// The part of a stored request that all processes have in memory. The queue never encrypts this part.
struct RequestHeader: Hashable, Sendable {
    var owner: QueueOwner
    var lane: String
    var created: QueueTime
    /// The time in milliseconds within which the request may be sent, measured from its creation.
    var lifetime: Int64
    var coalescingKey: String?
}

/// The content of a stored request on disk: the bytes of ``RequestContent``, encrypted or not.
struct SealedContent: Hashable, Sendable {
    var isEncrypted = false
    var bytes: [UInt8]
}

/// The part of a stored request that is read from the disk only when the request is sent. This part may be encrypted.
struct RequestContent: Hashable, Sendable {
    var method: String
    /// The path with its query, relative to the base URL.
    var path: String
    var contentType: String?
    var body: [UInt8]?
    var idempotencyKey: String
    /// The part of the app that made the call.
    var context: String?
}

/// The reason why a request became a dead letter, with the response that refused it.
struct Burial: Hashable, Sendable {
    enum Reason: UInt8, Sendable {
        case refused, unknownOutcome, expired, failedRepeatedly
    }

    var reason: Reason
    var time: QueueTime
    /// The status of the response; 0 if there was none.
    var status: UInt16 = 0
    /// The code of the error; empty if there is no code.
    var code = ""
    /// The names and the values of the headers from which the error is decoded, alternating: name, value, name, value.
    var headers: [String] = []
    var body = SealedContent(bytes: [])
}

extension QueueEntry {
    /// The kinds of frames on disk. Never change or reuse a number, because journals of earlier versions contain the number. If a process
    /// doesn't know the kind of a frame, the process keeps the frame in the file but doesn't apply it.
    private enum Kind: UInt8 {
        case stored = 1, replaced, attempted, settled, delivered, buried, revived, removed, discarded, leased
    }

    /// The kind and the payload of the entry's frame.
    var frame: (kind: UInt8, payload: [UInt8]) {
        var writer = QueueWriter()
        let kind: Kind
        switch self {
        case .stored(let header, let content):
            kind = .stored
            // The identifier of the request is the number of this frame, so 0 is written in its place.
            writer.write(UInt64(0))
            writer.write(header)
            writer.write(content)
        case .replaced(let id, let header, let content):
            kind = .replaced
            writer.write(id.rawValue)
            writer.write(header)
            writer.write(content)
        case .revived(let id, let header, let content):
            kind = .revived
            writer.write(id.rawValue)
            writer.write(header)
            writer.write(content)
        case .attempted(let id, let time):
            kind = .attempted
            writer.write(id.rawValue)
            writer.write(time)
        case .settled(let id, let settlement):
            kind = .settled
            writer.write(id.rawValue)
            writer.write(settlement.rawValue)
        case .delivered(let id):
            kind = .delivered
            writer.write(id.rawValue)
        case .removed(let id):
            kind = .removed
            writer.write(id.rawValue)
        case .buried(let id, let burial):
            kind = .buried
            writer.write(id.rawValue)
            writer.write(burial)
        case .discarded(let owner):
            kind = .discarded
            writer.write(owner)
        case .leased(let holder, let time, let milliseconds):
            kind = .leased
            writer.write(holder)
            writer.write(time)
            writer.write(milliseconds)
        }
        return (kind.rawValue, writer.bytes)
    }

    /// Reads the payload of a frame.
    /// - Returns: `nil` if this version does not know the kind.
    /// - Throws: ``QueueReader/Malformed`` if the payload is not valid for the kind.
    init?(kind: UInt8, payload: [UInt8]) throws(QueueReader.Malformed) {
        var reader = QueueReader(payload)
        switch Kind(rawValue: kind) {
        case .stored:
            _ = try reader.id()
            self = .stored(try reader.header(), content: try reader.content())
        case .replaced: self = .replaced(try reader.id(), try reader.header(), content: try reader.content())
        case .revived: self = .revived(try reader.id(), try reader.header(), content: try reader.content())
        case .attempted: self = .attempted(try reader.id(), try reader.time())
        case .settled:
            let id = try reader.id()
            guard let settlement = Settlement(rawValue: try reader.number()) else { throw QueueReader.Malformed() }
            self = .settled(id, settlement)
        case .delivered: self = .delivered(try reader.id())
        case .removed: self = .removed(try reader.id())
        case .buried: self = .buried(try reader.id(), try reader.burial())
        case .discarded: self = .discarded(try reader.owner())
        case .leased: self = .leased(holder: try reader.number(), try reader.time(), milliseconds: try reader.number())
        case nil: return nil
        }
    }
}

extension SealedContent {
    /// Reads the content in the payload of a frame that stores, replaces or revives a request.
    /// - Throws: ``QueueReader/Malformed`` for other payloads.
    init(payload: [UInt8]) throws(QueueReader.Malformed) {
        var reader = QueueReader(payload)
        _ = try reader.id()
        _ = try reader.header()
        self = try reader.content()
    }
}

extension RequestContent {
    /// The content as bytes, the input of the cipher.
    var bytes: [UInt8] {
        var writer = QueueWriter()
        writer.write(method)
        writer.write(path)
        writer.write(idempotencyKey)
        writer.write(contentType)
        writer.write(context)
        writer.write(UInt8(body == nil ? 0 : 1))
        if let body { writer.write(body) }
        return writer.bytes
    }

    /// Decodes the bytes that ``bytes`` returned, after their decryption.
    /// - Throws: ``QueueReader/Malformed`` if the bytes end too early.
    init(_ bytes: [UInt8]) throws(QueueReader.Malformed) {
        var reader = QueueReader(bytes)
        method = try reader.text()
        path = try reader.text()
        idempotencyKey = try reader.text()
        contentType = try reader.optionalText()
        context = try reader.optionalText()
        body = try reader.number(UInt8.self) == 0 ? nil : reader.block()
    }
}

extension QueueWriter {
    fileprivate mutating func write(_ owner: QueueOwner) {
        write(owner.server)
        write(owner.account)
    }

    fileprivate mutating func write(_ header: RequestHeader) {
        write(header.owner)
        write(header.lane)
        write(header.created)
        write(header.lifetime)
        write(header.coalescingKey)
    }

    fileprivate mutating func write(_ content: SealedContent) {
        write(UInt8(content.isEncrypted ? 1 : 0))
        write(content.bytes)
    }

    fileprivate mutating func write(_ burial: Burial) {
        write(burial.reason.rawValue)
        write(burial.time)
        write(burial.status)
        write(burial.code)
        write(UInt32(burial.headers.count))
        for header in burial.headers { write(header) }
        write(burial.body)
    }
}

extension QueueReader {
    fileprivate mutating func id() throws(Malformed) -> QueuedRequestID { QueuedRequestID(rawValue: try number()) }

    fileprivate mutating func owner() throws(Malformed) -> QueueOwner {
        QueueOwner(server: try text(), account: try optionalText())
    }

    fileprivate mutating func header() throws(Malformed) -> RequestHeader {
        RequestHeader(
            owner: try owner(),
            lane: try text(),
            created: try time(),
            lifetime: try number(),
            coalescingKey: try optionalText()
        )
    }

    fileprivate mutating func content() throws(Malformed) -> SealedContent {
        SealedContent(isEncrypted: try number(UInt8.self) != 0, bytes: try block())
    }

    fileprivate mutating func burial() throws(Malformed) -> Burial {
        guard let reason = Burial.Reason(rawValue: try number()) else { throw Malformed() }
        var burial = Burial(reason: reason, time: try time(), status: try number(), code: try text())
        for _ in 0..<(try number(UInt32.self)) { burial.headers.append(try text()) }
        burial.body = try content()
        return burial
    }
}
