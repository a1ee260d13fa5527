import AccountContract
public import ErrorContract
public import Foundation
public import HTTPTypes
public import ResilientHTTP
import Synchronization
import Timekeeping

/// Storing, changing and removing requests.
extension OfflineQueue {
    /// Stores a request, which is sent after the earlier requests of its lane.
    ///
    /// Use this method for mutations whose response is not needed. To get the response, use `send(_:_:_:query:options:context:)`.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path relative to the client's base URL, as for `APIClient.send`.
    ///   - body: A value that the client's coding encodes as JSON now. The encoded bytes are sent later, even by a later version of the
    ///     app.
    ///   - query: Items that are appended to the query of the path.
    ///   - options: `queueing` contains the lane, the lifetime and the coalescing key. An `idempotencyKey` replaces the key that the queue
    ///     creates. Other options are not stored.
    ///   - context: The part of the app that makes the call. Errors and the client's log contain it.
    ///   - isDurable: With `true`, the method returns after a sync of the disk. The request then survives a loss of power. With `false`,
    ///     the method returns earlier. The request then survives the end of the process, and at most 50 ms later also a loss of power.
    /// - Returns: The identifier of the request. If the request replaced a pending request with the same coalescing key, the new request
    ///   has the identifier and the place of the replaced request.
    /// - Throws: ``QueueError``. If the task is canceled, there are two possible results. Either the method throws and has stored nothing,
    ///   or the method returns the identifier.
    ///     - ``QueueError/invalidRequest(_:)``: the body can't be encoded, or the client can't make the request.
    ///     - ``QueueError/carriesCredentials``: the path belongs to sign-in, registration, refresh or password reset.
    ///     - ``QueueError/noIdentity``: the endpoint requires a token, but the account is unknown.
    ///     - ``QueueError/unsuitableBody``: the body is larger than ``QueueLimits/body``, or the body is not in memory.
    ///     - ``QueueError/full(_:)``: the account has reached a limit. The queue doesn't remove other requests for a new one.
    ///     - ``QueueError/locked``: the files, the key of the cipher or the credentials of the session are not available.
    ///     - ``QueueError/storage(_:)``: the disk is full or failed. With `isDurable`, the request may still be stored: if only the sync of
    ///       the request failed, the request is in the file, and the queue sends it.
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
        do { content = try client.json(body, context: context) } catch { throw .invalidRequest(error) }
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

    /// Stores a request with a body in bytes, which is sent after the earlier requests of its lane.
    ///
    /// Use this method for bodies that are not JSON. The body must be in memory: a file or a stream is refused.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path relative to the client's base URL, as for `APIClient.send`.
    ///   - query: Items that are appended to the query of the path.
    ///   - body: The bytes with their content type; `nil` for no body.
    ///   - options: `queueing` contains the lane, the lifetime and the coalescing key. An `idempotencyKey` replaces the key that the queue
    ///     creates. Other options are not stored.
    ///   - context: The part of the app that makes the call. Errors and the client's log contain it.
    ///   - isDurable: Whether the method waits until the request survives a loss of power.
    /// - Returns: The identifier of the request, or of the pending request with the same coalescing key that it replaced.
    /// - Throws: ``QueueError``, as for ``enqueue(_:_:_:query:options:context:isDurable:)``.
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

    /// Sends a request now if possible, and returns its response. Otherwise, the request stays stored and is sent later.
    ///
    /// The request is stored before its first byte is sent, so the request is performed once even if the app ends meanwhile. The request is
    /// sent after the earlier requests of its lane. A request is only stored if its endpoint or its options have a `QueueingPolicy`.
    /// Without a policy, the client sends the request directly, and the method throws the errors of the client.
    ///
    /// If the app doesn't need the response, use ``enqueue(_:_:_:query:options:context:isDurable:)``, which does not wait for the network.
    ///
    /// If the task is canceled during the wait for the response, the method returns ``QueueResult/queued(_:)``, and the request stays
    /// stored. If the task is canceled before the request is stored, the method throws an error of the kind `cancelled`.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path relative to the client's base URL.
    ///   - body: A value that the client's coding writes as JSON.
    ///   - query: Items that are appended to the query of the path.
    ///   - options: `queueing` permits storing the request and contains the lane. `timeout` limits how long the method waits for the
    ///     response.
    ///   - context: The part of the app that makes the call. Errors and the client's log contain it.
    /// - Returns: The value of the response. If the request can't be sent now, or if there was no response within the timeout, the
    ///   identifier of the stored request.
    /// - Throws: `APIError`. If the server refused the request, the error is the refusal, and no dead letter is stored. If the request
    ///   can't be stored, the code is `OFFLINE_QUEUE_FULL` or `OFFLINE_QUEUE_UNAVAILABLE`. If the endpoint requires a session and the
    ///   account is unknown, for example because no user is signed in, the code is `AUTH_TOKEN_MISSING`. The kind `decoding` means that the
    ///   server performed the request, but the method can't return a value: either the response can't be decoded, or an earlier attempt or
    ///   another process received the response. After all of these errors, the request is not in the queue.
    public func send<Value: Decodable, Body: Encodable>(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: Body? = nil as Never?,
        query: [URLQueryItem] = [],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> QueueResult<Value> {
        let content = try client.json(body, context: context)
        switch try await deliver(method, path, query, content, options, context) {
        case .response(let (response, bytes)):
            // An earlier attempt delivered the request.
            guard let response else { throw APIError(.decoding, context: context) }
            return .response(try client.value(in: response, body: bytes, context: context))
        case .queued(let id): return .queued(id)
        }
    }

    /// Sends a request now if possible. Use this method if the content of the response is not needed.
    ///
    /// The method behaves like `send(_:_:_:query:options:context:)`, with two differences. A response without content is not an error. A
    /// response that another process received is not an error.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path relative to the client's base URL.
    ///   - body: A value that the client's coding writes as JSON; `nil` for no body.
    ///   - query: Items that are appended to the query of the path.
    ///   - options: `queueing` permits storing the request and contains the lane. `timeout` limits how long the method waits for the
    ///     response.
    ///   - context: The part of the app that makes the call. Errors and the client's log contain it.
    /// - Returns: ``QueueResult/response(_:)`` if the server performed the request, or the identifier of the stored request.
    /// - Throws: `APIError` if the server refused the request, or if the request can't be stored.
    public func send<Body: Encodable>(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: Body? = nil as Never?,
        query: [URLQueryItem] = [],
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> QueueResult<Void> {
        let content = try client.json(body, context: context)
        switch try await deliver(method, path, query, content, options, context) {
        case .response: return .response(())
        case .queued(let id): return .queued(id)
        }
    }

    /// Replaces the body of a request that was not sent yet. The new value is encoded as JSON.
    ///
    /// The identifier, the path, the lane, the place in the lane, the time of creation and the idempotency key stay the same. After an
    /// attempt, the app can still edit the request if no byte of this attempt left the device.
    /// - Parameters:
    ///   - id: A pending request.
    ///   - body: The new body.
    /// - Throws: ``QueueError/attemptBegan`` if the server may have received the request, or if the request is a dead letter.
    ///   ``QueueError/unknownRequest`` if the request was delivered or removed. ``QueueError/unsuitableBody`` and ``QueueError/full(_:)``
    ///   if the new body exceeds a limit. ``QueueError/locked`` or ``QueueError/storage(_:)`` if the request can't be read or written.
    ///   After an error, the request is not changed.
    public func edit<Body: Encodable>(_ id: QueuedRequestID, _ body: Body) async throws(QueueError) {
        let content: RequestBody?
        do { content = try client.json(body, context: nil) } catch { throw .invalidRequest(error) }
        try await edit(id, body: content)
    }

    /// Replaces the body of an unsent request with bytes in memory. With `nil`, the method removes the body.
    ///
    /// ```swift
    /// try await queue.edit(id, body: RequestBody(bytes, contentType: "text/plain"))
    /// ```
    /// The effects are the same as for ``edit(_:_:)``.
    /// - Parameters:
    ///   - id: A pending request.
    ///   - body: The new body with its content type, in memory; `nil` removes the body.
    /// - Throws: ``QueueError``, as for ``edit(_:_:)``. After an error, the request is not changed.
    public func edit(_ id: QueuedRequestID, body: RequestBody?) async throws(QueueError) {
        let bytes = try stored(body)
        var isEdited = false
        // Another call can replace the whole request after this call has read it, through its coalescing key. Then read it again, so that
        // the method, the path and the key of the new request are not lost.
        while !isEdited {
            let (known, frame) = try await self.content(of: id)
            var content = known
            (content.body, content.contentType) = (bytes, body?.contentType)
            isEdited = try await change { ledger, transaction throws(QueueError) -> Bool in
                let record = try ledger.editable(id)
                guard record.content == frame else { return false }
                let header = ledger.header(of: id, record)
                let sealed = try self.seal(content.bytes, of: id, header.owner)
                try ledger.requireRoom(for: sealed.bytes.count, of: header.owner, replacing: id, in: options.limits)
                // A caller that waits for the previous content must not get the response to the new content.
                hub.settle(id, .later)
                transaction.append(.replaced(id, header, content: sealed))
                return true
            }
        }
    }

    /// Removes a request that was not sent yet. When the method returns, the server has not performed the request and never will.
    ///
    /// Unlike ``remove(_:)``, the method refuses to remove a request that the server may have received. The app therefore never reports a
    /// wrong result to the user.
    /// - Parameter id: A pending request.
    /// - Throws: ``QueueError/attemptBegan`` if the server may have received the request, or if the request is a dead letter.
    ///   ``QueueError/unknownRequest`` if the request was delivered or removed. ``QueueError/storage(_:)`` if the removal can't be written.
    ///   The file has a reserve of 64 KiB, so a removal usually succeeds even on a full disk.
    public func cancel(_ id: QueuedRequestID) async throws(QueueError) {
        try await change { ledger, transaction throws(QueueError) in
            _ = try ledger.editable(id)
            transaction.usesReserve = true
            transaction.append(.removed(id))
        }
    }

    /// Removes a request or a dead letter in any state.
    ///
    /// If an attempt is in flight, the attempt continues. The server may have performed the request, or may still perform it. To remove
    /// only requests that the server can't have received, use ``cancel(_:)``.
    /// - Parameter id: A pending request or a dead letter.
    /// - Throws: ``QueueError/unknownRequest`` if the request was delivered or removed. ``QueueError/storage(_:)`` if the removal can't be
    ///   written.
    public func remove(_ id: QueuedRequestID) async throws(QueueError) {
        try await change { ledger, transaction throws(QueueError) in
            guard ledger.records[id] != nil else { throw .unknownRequest }
            transaction.usesReserve = true
            transaction.append(.removed(id))
        }
        hub.wake()
    }

    /// Puts a dead letter back into its lane, with a new idempotency key. The lifetime of the request begins again.
    ///
    /// The request returns to its original place: before all requests of the lane that were stored later. The counts of attempts and
    /// failures begin again at zero. The identifier stays the same.
    ///
    /// - Parameter id: A dead letter, such as one of ``deadLetters(limit:)``.
    /// - Important: If the reason of the dead letter is ``DeadLetter/Reason/unknownOutcome``, the server may perform the request twice. Ask
    ///   the user, or read the server's state, before the call. The same is true while another process still waits for the response to an
    ///   earlier attempt, because the new attempts have another idempotency key.
    /// - Throws: ``QueueError/notDeadLetter`` if the request is pending. ``QueueError/unknownRequest`` if the request was delivered or
    ///   removed. ``QueueError/locked`` or ``QueueError/storage(_:)`` if the request can't be read or written.
    public func retry(_ id: QueuedRequestID) async throws(QueueError) {
        var content = try await content(of: id).content
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

    /// Removes all requests and dead letters of an account in one step, for example after the user deleted the account.
    ///
    /// If a request is being sent, the server may still perform the request. Callers that wait in `send(_:_:_:query:options:context:)`
    /// get the identifier of a request that no longer exists. If the account has no requests, the method does nothing.
    /// - Parameter owner: The account with its server, such as one of ``owners``.
    /// - Throws: ``QueueError/storage(_:)`` if the removal can't be written. After an error, no request is removed.
    public func discard(owner: QueueOwner) async throws(QueueError) {
        try await change { _, transaction throws(QueueError) in
            transaction.usesReserve = true
            transaction.append(.discarded(owner))
        }
    }
}

/// Snapshots of the stored requests.
extension OfflineQueue {
    /// The accounts that have stored requests or dead letters, including accounts that are not signed in. Like ``counts``, the property
    /// reads only memory.
    public var owners: [QueueOwner] { journal.withState { ledger in ledger.owners.filter { $0.count > 0 }.map(\.owner) } }

    /// Returns the requests that are to be sent, in the order in which they were stored. The method first reads the changes of other
    /// processes.
    ///
    /// If the content of a request can't be read or decrypted now, the result doesn't contain the request. ``counts`` includes it.
    /// - Parameters:
    ///   - lane: The name of the lane, for all accounts; `nil` for all lanes.
    ///   - limit: The maximum number of requests. Each request is read from the disk. A negative number counts as 0.
    /// - Throws: ``QueueError/locked`` or ``QueueError/storage(_:)`` if the file can't be read.
    public func pending(lane: String? = nil, limit: Int = 100) async throws(QueueError) -> [QueuedRequest] {
        let limit = max(0, limit)
        let ids = try await change { ledger, _ throws(QueueError) in
            ledger.lanes.filter { lane == nil || $0.name == lane }.flatMap { $0.line.all.prefix(limit) }.sorted().prefix(limit)
        }
        return requests(Array(ids))
    }

    /// Returns the dead letters in the order in which their requests were stored. The method first reads the changes of other processes.
    ///
    /// If the content of a dead letter can't be read or decrypted now, the result doesn't contain the dead letter.
    /// - Parameter limit: The maximum number of dead letters. Each dead letter is read from the disk. A negative number counts as 0.
    /// - Throws: ``QueueError/locked`` or ``QueueError/storage(_:)`` if the file can't be read.
    public func deadLetters(limit: Int = 100) async throws(QueueError) -> [QueuedRequest] {
        requests(try await change { ledger, _ throws(QueueError) in Array(ledger.buried.keys.sorted().prefix(max(0, limit))) })
    }

    /// Returns the state of a request; `nil` if it was delivered or removed.
    ///
    /// The method reads the state from memory, without the changes that other processes made since this process last read the file. If
    /// another process is sending the request, the state is ``QueuedRequest/Status/pending``.
    /// - Parameter id: The identifier that ``enqueue(_:_:_:query:options:context:isDurable:)`` or `send(_:_:_:query:options:context:)`
    ///   returned.
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

    /// Reads the contents of requests from the disk. The result doesn't contain requests that ended meanwhile or that can't be read.
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
    /// A request that is complete except for its identifier.
    struct Draft {
        var header: RequestHeader
        var content: RequestContent
    }

    /// Validates a call, and creates the request that is stored for it. The method doesn't change the queue.
    ///
    /// The owner is the account that is signed in now. If the endpoint requires no token, the request has no account.
    /// - Throws: ``QueueError/invalidRequest(_:)``, ``QueueError/carriesCredentials``, ``QueueError/noIdentity`` or
    ///   ``QueueError/unsuitableBody``. ``QueueError/locked`` if the credentials of the session can't be read, or
    ///   ``QueueError/storage(_:)`` if the task was canceled meanwhile.
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
        if carriesCredentials(path) { throw .carriesCredentials }
        var account: String?
        if policy.isAuthorized, let session = client.session {
            do {
                account = try await session.identity
            } catch {
                throw error is CancellationError ? QueueError.storage(error) : .locked
            }
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

    /// Stores a request. If a pending request has the same coalescing key, the new request replaces it.
    /// - Parameters:
    ///   - draft: The request.
    ///   - isDurable: Whether the method waits until the request survives a loss of power.
    ///   - waiter: Gets the outcome. The method registers the waiter before it appends the request to the journal, so the waiter can't miss
    ///     the outcome.
    /// - Returns: The identifier of the request.
    func store(_ draft: Draft, isDurable: Bool, waiter: ChangeHub.Waiter? = nil) async throws(QueueError) -> QueuedRequestID {
        let header = draft.header
        return try await change(isDurable: isDurable) { ledger, transaction throws(QueueError) in
            let known = ledger.replaceable(header.coalescingKey, lane: header.lane, of: header.owner)
            let id = known ?? QueuedRequestID(rawValue: transaction.nextSequence)
            let sealed = try self.seal(draft.content.bytes, of: id, header.owner)
            try ledger.requireRoom(for: sealed.bytes.count, of: header.owner, replacing: known, in: options.limits)
            if let waiter {
                hub.wait(for: id, waiter)
            } else {
                hub.settle(id, .later)
            }
            transaction.append(known == nil ? .stored(header, content: sealed) : .replaced(id, header, content: sealed))
            return id
        }
    }

    /// Reads the present content of a request. The method first reads the changes of other processes.
    /// - Returns: The content, and the frame that contains it.
    /// - Throws: ``QueueError/unknownRequest`` if the request was delivered or removed; errors of the file and of the cipher.
    private func content(of id: QueuedRequestID) async throws(QueueError) -> (content: RequestContent, frame: UInt64) {
        let (frame, owner) = try await change { ledger, _ throws(QueueError) in
            guard let record = ledger.records[id] else { throw QueueError.unknownRequest }
            return (record.content, ledger.owner(of: record))
        }
        return (try content(of: id, frame: frame, owner), frame)
    }

    /// Returns the bytes of a body that can be stored.
    /// - Throws: ``QueueError/unsuitableBody`` if the body is not in memory, can be read only once, or exceeds ``QueueLimits/body``.
    private func stored(_ body: RequestBody?) throws(QueueError) -> [UInt8]? {
        guard let body else { return nil }
        guard let bytes = body.bytes, !body.isOneShot, bytes.count <= options.limits.body else { throw .unsuitableBody }
        return bytes
    }

    /// Returns whether a path belongs to an operation that issues or accepts credentials. A request with credentials must not be stored,
    /// and would be useless later.
    ///
    /// The base URL may end with the beginning of the operation's path: `https://api.example.org/api` and `/auth/login`. The method decodes
    /// the path and ignores empty segments, because servers do the same.
    private func carriesCredentials(_ path: String) -> Bool {
        // The first two parts of the base URL are its scheme and its host.
        let base = server.split(separator: "/").dropFirst(2).map { String($0) }
        let relative = path.prefix { $0 != "?" }.split(separator: "/").map { String($0) }
        let segments = (base + relative).map { $0.removingPercentEncoding ?? $0 }
        return (0...base.count).contains { start in
            let path = "/" + segments[start...].joined(separator: "/") + "/"
            let isAccounts = path.hasPrefix("/api/auth/") && path != AccountPath.me + "/"
            return isAccounts || path.hasPrefix(AccountPath.requestPasswordReset)
                || path.hasPrefix(AccountPath.confirmPasswordReset) || path.hasPrefix(AccountPath.validateResetToken)
        }
    }
}

extension Date {
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }
}
