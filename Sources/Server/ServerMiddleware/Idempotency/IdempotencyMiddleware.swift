import ErrorContract
import HTTPTypes
public import Hummingbird
public import Idempotency
import RateLimiting
import StrictJSON

/// A middleware that executes a request with an `Idempotency-Key` only once, even if the client repeats the request
/// (draft-ietf-httpapi-idempotency-key-header-07).
///
/// ```swift
/// router.group("/orders").idempotent(by: keys) { _, context in .account(context.account.id) }.post(use: order)
/// ```
/// | a request with a key | response |
/// |---|---|
/// | is the first with this key | the response of the route |
/// | repeats a finished request | the stored response, with `Idempotency-Replayed: true` |
/// | repeats a request that is running | 409 `REQUEST_CONFLICT` with Retry-After |
/// | repeats a finished request whose response is not stored | 409 `REQUEST_CONFLICT` without Retry-After |
/// | has the key of an earlier request to the same route, with another path, query or body | 422 `REQUEST_KEY_REUSED` |
/// | has a new key, and the client has used its share of the store | 429 `RATE_LIMIT_EXCEEDED` with Retry-After |
/// | comes while the store fails | 503 `SERVER_SERVICE_UNAVAILABLE` with Retry-After |
///
/// Requests without a key and requests with safe methods (GET, HEAD, OPTIONS, TRACE) pass unchanged. A key belongs to its client, method
/// and route. For example, a POST and a PUT with equal keys are two different requests.
///
/// **Responses.** If the route throws or responds with 408, 429 or 5xx, the middleware releases the key, and the server executes a
/// repetition. Any other response is final. The middleware stores a final response if its body has a known length of at most 64 KiB. Of the
/// header fields, it stores those for which `IdempotentResponse.isSafe(_:)` returns `true`. If the middleware can't store a final response,
/// the client gets it only once, and repetitions get 409. The middleware encrypts the stored body with a key that depends on the client's
/// idempotency key. If responses contain secrets, clients must therefore use idempotency keys that can't be guessed, such as random UUIDs.
///
/// **Crashes.** A process can be killed after it has done the work, but before it has finished the key. A repetition then gets 409 until
/// the lease ends. Afterwards, the server executes the request a second time. To prevent this, use
/// ``Idempotency/IdempotentRequest/commit(_:)`` in the handler.
///
/// **Deadlines.** Add this middleware inside the deadline, as in a group of a ``ContractRouter``. A route that continues after its deadline
/// then keeps its key, and a repetition gets the response of the route.
///
/// **Cost.** While the server processes a request with a key, the request's body is in memory. The response's body is also in memory if the
/// middleware stores it. Each request with a key needs a claim in the store, and an executed request needs a second write.
public struct IdempotencyMiddleware<Context: RequestContext>: RouterMiddleware {
    private let keys: IdempotencyKeys
    private let isRequired: Bool
    private let reader: RequestReader
    private let owner: @Sendable (Request, Context) async throws -> IdempotencyOwner

    /// Creates the middleware.
    /// - Parameters:
    ///   - keys: The keys, shared by all routes of the server.
    ///   - isRequired: Whether the server refuses a request without a key with 400 `REQUEST_MALFORMED`. Safe methods never need a key.
    ///   - reader: The reader of request bodies, which limits their size and the time in which they must arrive.
    ///   - owner: A closure that returns the client to which the key of a request belongs: the account of an authorized request, otherwise
    ///     the address. The middleware calls the closure only for requests with a valid key. If the closure throws, the middleware rethrows
    ///     the error and doesn't execute the request.
    public init(
        _ keys: IdempotencyKeys,
        isRequired: Bool = false,
        reader: RequestReader = RequestReader(),
        owner: @escaping @Sendable (Request, Context) async throws -> IdempotencyOwner
    ) {
        (self.keys, self.isRequired, self.reader, self.owner) = (keys, isRequired, reader, owner)
    }

    /// Executes the request, or responds with a stored response.
    /// - Throws: ``ContractError`` if the key is invalid or missing, or if the claim is refused; errors of the reader, the `owner` and the
    ///   route are rethrown.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard !request.method.isSafe else { return try await next(request, context) }
        guard let key = try key(of: request) else { return try await next(request, context) }
        var request = request
        let body = try await reader.bytes(of: request)
        request.body = RequestBody(buffer: ByteBuffer(bytes: body))
        let claim = keys.secret.claim(
            key,
            owner: try await owner(request, context),
            method: request.method.rawValue,
            route: context.endpointPath ?? request.uri.path,
            path: request.head.path ?? request.uri.path,
            body: body
        )
        if let stored = try await keys.begin(claim, context.logger) { return Response(replaying: stored) }
        let work = keys.request(of: claim)
        let response: Response
        do {
            response = try await IdempotentRequest.$current.withValue(work) { try await next(request, context) }
        } catch {
            await keys.settle(claim, with: .released, context.logger)
            guard error is LostIdempotencyKey else { throw error }
            // The lease has ended, and a repetition has claimed the key and does the work. The server therefore refuses this request,
            // although it came first.
            throw ContractError(.requestConflict, details: RepeatedRequestState.running.details, retryAfter: .seconds(1))
        }
        // The handler has finished the key in its transaction.
        guard !work.isFinished else {
            keys.leave(claim)
            return response
        }
        return try await settle(claim, with: response, context)
    }

    /// Returns the key of a request; `nil` if the request has no key and doesn't need one.
    private func key(of request: Request) throws -> IdempotencyKey? {
        let details: JSONObject = ["header": "Idempotency-Key"]
        do {
            if let key = try IdempotencyKey(request.headers) { return key }
        } catch {
            throw ContractError(.requestMalformed, details: details, underlying: error)
        }
        if isRequired { throw ContractError(.requestMalformed, details: details) }
        return nil
    }

    /// Finishes or releases the key, depending on the response.
    /// - Returns: The response to send. If the response is stored, its body is in memory.
    /// - Throws: Errors of the response's body.
    private func settle(_ claim: IdempotencyClaim, with response: Response, _ context: Context) async throws -> Response {
        guard IdempotentResponse.isFinal(response.status.code) else {
            await keys.settle(claim, with: .released, context.logger)
            return response
        }
        // A body without a known length may never end. The middleware therefore sends such a body without storing it, and repetitions can't
        // get it.
        guard let length = response.body.contentLength, length <= IdempotentResponse.maximumBodySize else {
            await keys.settle(claim, with: .finished(nil), context.logger)
            return response
        }
        do {
            var response = response
            let stored = try await response.buffered()
            await keys.settle(claim, with: .finished(stored), context.logger)
            return response
        } catch {
            // The work is done, although the server can't send the response. The key is finished, so that a repetition doesn't do the work
            // again.
            await keys.settle(claim, with: .finished(nil), context.logger)
            throw error
        }
    }
}

extension RouterMethods {
    /// Returns a group of routes that execute a request with an `Idempotency-Key` once; see ``IdempotencyMiddleware``.
    ///
    /// Use this method for authorized requests. The closure should return the account of the request.
    /// - Parameters:
    ///   - keys: The keys, shared by all routes of the server.
    ///   - isRequired: Whether the server refuses a request without a key with 400 `REQUEST_MALFORMED`.
    ///   - reader: The reader of request bodies, which limits their size and the time in which they must arrive.
    ///   - owner: A closure that returns the client to which the key of a request belongs.
    public func idempotent(
        by keys: IdempotencyKeys,
        isRequired: Bool = false,
        reader: RequestReader = RequestReader(),
        owner: @escaping @Sendable (Request, Context) async throws -> IdempotencyOwner
    ) -> RouterGroup<Context> {
        group().add(middleware: IdempotencyMiddleware(keys, isRequired: isRequired, reader: reader, owner: owner))
    }
}

extension RouterMethods where Context: RemoteAddressRequestContext {
    /// Returns a group of routes that execute a request with an `Idempotency-Key` once. The keys belong to the addresses of the clients.
    ///
    /// Use this method only for routes without authorized requests. A phone can change its network between two attempts. Its address then
    /// changes, and the server executes its request again.
    /// - Parameters:
    ///   - keys: The keys, shared by all routes of the server.
    ///   - isRequired: Whether the server refuses a request without a key with 400 `REQUEST_MALFORMED`.
    ///   - reader: The reader of request bodies, which limits their size and the time in which they must arrive.
    ///   - identity: The rule that determines the address of a client, including clients behind a proxy.
    public func idempotent(
        by keys: IdempotencyKeys,
        isRequired: Bool = false,
        reader: RequestReader = RequestReader(),
        identity: ClientIdentity = ClientIdentity()
    ) -> RouterGroup<Context> {
        idempotent(by: keys, isRequired: isRequired, reader: reader) { request, context in
            .client(identity.client(peer: context.remoteAddress.flatMap(IPAddress.init), headers: request.headers))
        }
    }
}

extension IdempotencyOwner {
    /// Returns the owner of a request without authentication: the address that ``ClientIdentity`` returns for the client, and its network.
    public static func client(_ address: ClientAddress) -> IdempotencyOwner {
        .address(address, network: address.network ?? "")
    }
}

extension Response {
    /// Creates the response that repeats a stored response. It has the field `Idempotency-Replayed: true`.
    fileprivate init(replaying stored: IdempotentResponse) {
        self.init(stored)
        headers[.idempotencyReplayed] = "true"
    }

    /// Converts a response of the store to a response that the server can send.
    init(_ stored: IdempotentResponse) {
        self.init(
            status: .init(code: stored.status),
            headers: stored.headers,
            body: stored.body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: stored.body))
        )
    }

    /// Reads the body into memory, and replaces the body with the read bytes.
    /// - Returns: The response for the store; `nil` if the body has more than 64 KiB.
    /// - Throws: Errors of the body.
    mutating func buffered() async throws -> IdempotentResponse? {
        let writer = BufferedBody()
        try await body.write(writer)
        body = ResponseBody(byteBuffer: writer.buffer)
        return IdempotentResponse(status: status.code, headers: headers, body: Array(writer.buffer.readableBytesView))
    }
}

extension HTTPRequest.Method {
    /// Whether the method is safe. A request with a safe method changes nothing (RFC 9110 §9.2.1).
    var isSafe: Bool { [.get, .head, .options, .trace].contains(self) }
}

/// A writer that collects the body of a response in memory. The writer drops trailing header fields.
final class BufferedBody: ResponseBodyWriter {
    private(set) var buffer = ByteBuffer()

    func write(_ buffer: ByteBuffer) {
        self.buffer.writeImmutableBuffer(buffer)
    }

    func finish(_ trailingHeaders: HTTPFields?) {}
}
