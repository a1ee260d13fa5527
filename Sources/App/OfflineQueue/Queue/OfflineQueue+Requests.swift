import AccountContract
public import ErrorContract
public import Foundation
public import HTTPTypes
public import ResilientHTTP
import Synchronization
import Timekeeping

/// Requests that are stored, changed and removed.
extension OfflineQueue {
    /// Stores a request, to be sent in its turn.
    ///
    /// Use it for mutations that never need a response; ``send(_:_:_:query:options:context:)`` returns the response if one arrives soon.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path relative to the client's base URL, as for `APIClient.send`.
    ///   - body: A value that the client's coding writes as JSON now; it is sent as it was stored, also by a later version of the app.
    ///   - query: Items that are appended to the query of the path.
    ///   - options: `queueing` names the lane, the lifetime and the coalescing key; an `idempotencyKey` replaces the one that the queue
    ///     makes. Other options are not stored.
    ///   - context: Where in the app the call is made.
    ///   - isDurable: Whether the method returns only when the request survives a loss of power. Otherwise it returns when the request
    ///     survives the end of the process, and survives a loss of power within 50 ms.
    /// - Returns: The identifier of the request; that of the replaced one if a coalescing key replaced it.
    @discardableResult
    public func enqueue<Body: Encodable>(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: Body? = nil as Never?,
        query: [URLQueryItem] = [],
        options: CallOptions = CallOptions(),
        context: String? = nil,
        isDurable: Bool = false
    ) async throws(QueueError) -> QueuedRequestID {
        let content: RequestBody?
        do { content = try client.jsonBody(body, context: context) } catch { throw .invalidRequest(error) }
        return try await enqueue(
            method,
            path,
            query: query,
            body: content,
            options: options,
            context: context,
            isDurable: isDurable
        )
    }

    /// Stores a request with a body in bytes.
    @discardableResult
    public func enqueue(
        _ method: HTTPRequest.Method,
        _ path: String,
        query: [URLQueryItem] = [],
        body: RequestBody?,
        options: CallOptions = CallOptions(),
        context: String? = nil,
        isDurable: Bool = false
    ) async throws(QueueError) -> QueuedRequestID {
        let draft = try await draft(method, path, query, body, options, context)
        return try await store(draft, isDurable: isDurable)
    }

    /// Sends a request now if possible, and stores it if it can't be sent, or if requests before it in its lane can't.
    ///
    /// The request is stored before its first byte is sent, so that it is performed once even if the app ends meanwhile. Only endpoints and
    /// calls that opt in by a `QueueingPolicy` are stored; other calls are sent as by the client, and fail as there.
    /// - Returns: The value of the response, or the identifier of the stored request if there was no response within the time of the call.
    /// - Throws: `APIError` if the server refused the request, and if it can't be stored. The request is then not in the queue.
    public func send<Value: Decodable, Body: Encodable>(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: Body? = nil as Never?,
        query: [URLQueryItem] = [],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> QueueResult<Value> {
        let content = try client.jsonBody(body, context: context)
        switch try await deliver(method, path, query, content, options, context) {
        case .response(let (response, bytes)):
            // An earlier attempt delivered it.
            guard let response else { throw APIError(.decoding, context: context) }
            return .response(try client.value(in: response, body: bytes, context: context))
        case .queued(let id): return .queued(id)
        }
    }

    /// Sends a request now if possible, for a response whose content does not matter; see ``send(_:_:_:query:options:context:)``.
    public func send<Body: Encodable>(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: Body? = nil as Never?,
        query: [URLQueryItem] = [],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> QueueResult<Void> {
        let content = try client.jsonBody(body, context: context)
        switch try await deliver(method, path, query, content, options, context) {
        case .response: return .response(())
        case .queued(let id): return .queued(id)
        }
    }

    /// Replaces the body of a request that was not sent yet. Its path, its lane and its place in it stay.
    /// - Throws: ``QueueError/attemptBegan`` if the server may have received the request.
    public func edit<Body: Encodable>(_ id: QueuedRequestID, _ body: Body) async throws(QueueError) {
        let content: RequestBody?
        do { content = try client.jsonBody(body, context: nil) } catch { throw .invalidRequest(error) }
        try await edit(id, body: content)
    }

    /// Replaces the body of a request that was not sent yet by bytes.
    public func edit(_ id: QueuedRequestID, body: RequestBody?) async throws(QueueError) {
        let bytes = try stored(body)
        var content = try await content(of: id)
        (content.body, content.contentType) = (bytes, body?.contentType)
        try await change { ledger, transaction throws(QueueError) in
            let header = ledger.header(of: id, try ledger.editable(id))
            let sealed = try self.seal(content.bytes, of: id, header.owner)
            try ledger.requireRoom(for: sealed.bytes.count, of: header.owner, replacing: id, in: options.limits)
            transaction.append(.replaced(id, header, content: sealed))
        }
    }

    /// Removes a request that was not sent yet: the server never performs it.
    /// - Throws: ``QueueError/attemptBegan`` if the server may have received the request; ``remove(_:)`` removes it even so, and dead
    ///   letters.
    public func cancel(_ id: QueuedRequestID) async throws(QueueError) {
        try await change { ledger, transaction throws(QueueError) in
            _ = try ledger.editable(id)
            transaction.usesReserve = true
            transaction.append(.removed(id))
        }
    }

    /// Removes a request or a dead letter in any state. The server may have performed it, or may still perform it.
    public func remove(_ id: QueuedRequestID) async throws(QueueError) {
        try await change { ledger, transaction throws(QueueError) in
            guard ledger.records[id] != nil else { throw .unknownRequest }
            transaction.usesReserve = true
            transaction.append(.removed(id))
        }
        hub.wake()
    }

    /// Puts a dead letter back into its place in its lane, with a new idempotency key and its full lifetime.
    ///
    /// A request whose outcome is unknown may be performed twice then: ask the user, or read the server's state before.
    public func retry(_ id: QueuedRequestID) async throws(QueueError) {
        var content = try await content(of: id)
        content.idempotencyKey = IdempotencyKeyMiddleware.randomKey()
        let now = now
        try await change { ledger, transaction throws(QueueError) in
            guard let record = ledger.records[id] else { throw .unknownRequest }
            guard record.isBuried else { throw .notDeadLetter }
            var header = ledger.header(of: id, record)
            header.created = now
            transaction.append(.revived(id, header, content: try self.seal(content.bytes, of: id, header.owner)))
        }
    }

    /// Removes all requests and dead letters of an account. A request that is being sent may still be performed.
    public func discard(owner: QueueOwner) async throws(QueueError) {
        try await change { _, transaction throws(QueueError) in
            transaction.usesReserve = true
            transaction.append(.discarded(owner))
        }
    }
}

/// Snapshots of what is stored.
extension OfflineQueue {
    /// The accounts that have stored requests, those of accounts that are not signed in included.
    public var owners: [QueueOwner] { journal.withState { ledger in ledger.owners.filter { $0.count > 0 }.map(\.owner) } }

    /// Returns the requests that are to be sent, in order, with those that other processes have stored.
    /// - Parameters:
    ///   - lane: The lane; `nil` for all.
    ///   - limit: The largest number of requests; each is read from the disk.
    public func pending(lane: String? = nil, limit: Int = 100) async throws(QueueError) -> [QueuedRequest] {
        let ids = try await change { ledger, _ throws(QueueError) in
            ledger.lanes.filter { lane == nil || $0.name == lane }.flatMap { $0.line.all.prefix(limit) }.sorted().prefix(limit)
        }
        return requests(Array(ids))
    }

    /// Returns the dead letters, the oldest first.
    /// - Parameter limit: The largest number of dead letters; each is read from the disk.
    public func deadLetters(limit: Int = 100) async throws(QueueError) -> [QueuedRequest] {
        requests(try await change { ledger, _ throws(QueueError) in Array(ledger.buried.keys.sorted().prefix(limit)) })
    }

    /// Returns the state of a request; `nil` if it was delivered or removed.
    public func status(of id: QueuedRequestID) -> QueuedRequest.Status? {
        let facts = journal.withState { ledger in
            ledger.records[id].map { record in
                let lane = Int(record.lane)
                let isFirst = ledger.lanes[lane].line.first == id
                let (isBusy, pause) = dispatcher.withLock {
                    ($0.isBusy(lane), $0.pause(of: ledger.lanes[lane].owner, in: ledger))
                }
                return (
                    burial: ledger.buried[id]?.burial, isSending: isFirst && isBusy, pause: pause, owner: ledger.owner(of: record)
                )
            }
        }
        guard let facts else { return nil }
        if let burial = facts.burial { return .deadLetter(letter(burial, of: id, facts.owner)) }
        if facts.isSending { return .sending }
        return facts.pause.map { .paused($0) } ?? .pending
    }

    func requests(_ ids: [QueuedRequestID]) -> [QueuedRequest] {
        ids.compactMap { id in
            let facts = journal.withState { ledger in
                ledger.records[id].map { record in
                    (ledger.header(of: id, record), frame: record.content, attempts: ledger.attempts[id]?.count ?? 0)
                }
            }
            guard let (header, frame, attempts) = facts, let status = status(of: id),
                let content = try? content(of: id, frame: frame, header.owner),
                let method = HTTPRequest.Method(rawValue: content.method)
            else { return nil }
            return QueuedRequest(
                id: id,
                owner: header.owner,
                lane: header.lane,
                method: method,
                path: content.path,
                context: content.context,
                created: Date(milliseconds: header.created.wall),
                attempts: attempts,
                status: status
            )
        }
    }
}

extension OfflineQueue {
    /// A request that is complete but for its identifier.
    struct Draft {
        var header: RequestHeader
        var content: RequestContent
    }

    /// - Throws: ``QueueError`` if the request may not be stored.
    func draft(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ query: [URLQueryItem],
        _ body: RequestBody?,
        _ options: CallOptions,
        _ context: String?
    ) async throws(QueueError) -> Draft {
        let path = APIClient.path(path, with: query)
        let policy: EndpointPolicy
        do { policy = try client.policy(method, path, options: options, context: context) } catch { throw .invalidRequest(error) }
        if Self.carriesCredentials(path) { throw .carriesCredentials }
        var account: String?
        if policy.isAuthorized, let session = client.session {
            account = try? await session.identity
            if account == nil { throw .noIdentity }
        }
        let queueing = policy.queueing ?? QueueingPolicy()
        var key = IdempotencyKeyMiddleware.randomKey()
        if case .key(let own) = options.idempotency { key = own }
        return Draft(
            header: RequestHeader(
                owner: QueueOwner(server: server, account: account),
                lane: queueing.lane,
                created: now,
                lifetime: (queueing.lifetime ?? self.options.limits.lifetime).wholeMilliseconds,
                coalescingKey: queueing.coalescingKey
            ),
            content: RequestContent(
                method: method.rawValue,
                path: path,
                contentType: body?.contentType,
                body: try stored(body),
                idempotencyKey: key,
                context: context
            )
        )
    }

    /// Stores a request.
    /// - Parameter waiter: Is informed of the outcome.
    func store(_ draft: Draft, isDurable: Bool, waiter: ChangeHub.Waiter? = nil) async throws(QueueError) -> QueuedRequestID {
        let header = draft.header
        return try await change(isDurable: isDurable) { ledger, transaction throws(QueueError) in
            let known = ledger.replaceable(header.coalescingKey, lane: header.lane, of: header.owner)
            let id = known ?? QueuedRequestID(rawValue: transaction.nextSequence)
            let sealed = try self.seal(draft.content.bytes, of: id, header.owner)
            try ledger.requireRoom(for: sealed.bytes.count, of: header.owner, replacing: known, in: options.limits)
            if let waiter { hub.wait(for: id, waiter) }
            transaction.append(known == nil ? .stored(header, content: sealed) : .replaced(id, header, content: sealed))
            return id
        }
    }

    private func content(of id: QueuedRequestID) async throws(QueueError) -> RequestContent {
        let (frame, owner) = try await change { ledger, _ throws(QueueError) in
            guard let record = ledger.records[id] else { throw QueueError.unknownRequest }
            return (record.content, ledger.owner(of: record))
        }
        return try content(of: id, frame: frame, owner)
    }

    /// The bytes of a body that can be stored.
    private func stored(_ body: RequestBody?) throws(QueueError) -> [UInt8]? {
        guard let body else { return nil }
        guard let bytes = body.bytes, !body.isOneShot, bytes.count <= options.limits.body else { throw .unsuitableBody }
        return bytes
    }

    /// Whether a path belongs to the operations that issue or take credentials: what they carry must not be stored, and they are of no
    /// use later.
    private static func carriesCredentials(_ path: String) -> Bool {
        let path = path.prefix { $0 != "?" }
        let isAccounts = path.hasPrefix("/api/auth/") && path != AccountPath.me
        return isAccounts || path.hasPrefix(AccountPath.requestPasswordReset) || path.hasPrefix(AccountPath.confirmPasswordReset)
            || path.hasPrefix(AccountPath.validateResetToken)
    }
}

extension Date {
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
