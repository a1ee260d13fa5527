public import ErrorContract
import Foundation
public import HTTPTypes
import Timekeeping

/// Methods that send the requests of other code, such as generated code, through the client's middleware.
extension APIClient {
    /// Sends a complete request through the client's middleware, and returns the response of the last attempt, with any status.
    ///
    /// Use this method for code that builds requests and reads responses itself. The call uses the client's retries, gates, circuit
    /// breakers and session. The request can go to any host. The client changes only the headers of the request. The client adds the
    /// session's token only to requests to the origin of the base URL. The client doesn't check the body of a success.
    /// - Parameters:
    ///   - request: The request, with scheme, authority and path.
    ///   - body: The body. Its type is the request's `Content-Type`.
    ///   - operation: A name for the operation, such as the `operationId` of an OpenAPI document. Errors and policies use this name as the
    ///     endpoint of the call. With `nil`, the client derives the endpoint from the path.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Throws: `APIError` if no response is received, or if the client itself refuses to send the request. The method also throws if the
    ///   client generated the idempotency key, the response to an attempt was lost, and the last response is a temporary refusal such as
    ///   503. The error then has the kind `unknownOutcome`, and its `underlying` error describes the last response.
    public func exchange(
        _ request: HTTPRequest,
        body: [UInt8]? = nil,
        operation: String? = nil,
        options: CallOptions = CallOptions(),
        context: String? = nil
    ) async throws(APIError) -> (response: HTTPResponse, body: [UInt8]) {
        try await exchange(request, body: body, operation: operation, options: options, context: context, through: exchange)
    }

    /// Sends a complete request through the client's middleware, with another HTTP engine as the transport. Returns the response of the
    /// last attempt, with any status.
    ///
    /// Use this method to integrate the client into the middleware of another library. Apart from the HTTP engine, the method behaves like
    /// ``exchange(_:body:operation:options:context:)``.
    /// - Parameters:
    ///   - request: The request. If it has no authority, the client's middleware sees the scheme and the authority of the base URL, but the
    ///     engine receives the request without them.
    ///   - body: The body. Its type is the request's `Content-Type`.
    ///   - operation: A name for the operation. Errors and policies use this name as the endpoint of the call. With `nil`, the client
    ///     derives the endpoint from the path.
    ///   - options: The settings of this call, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    ///   - engine: Sends the request once and returns the response. The client calls the engine for each attempt, and cancels the engine if
    ///     the attempt takes too long. If the engine throws a `URLError`, the client converts the error.
    /// - Throws: `APIError`, like ``exchange(_:body:operation:options:context:)``.
    public func exchange(
        _ request: HTTPRequest,
        body: [UInt8]? = nil,
        operation: String? = nil,
        options: CallOptions = CallOptions(),
        context: String? = nil,
        over engine: @Sendable (HTTPRequest, [UInt8]?) async throws -> (HTTPResponse, [UInt8])
    ) async throws(APIError) -> (response: HTTPResponse, body: [UInt8]) {
        var request = request
        let isPartial = request.authority == nil
        if isPartial { (request.scheme, request.authority) = (base?.scheme, base?.authority) }
        do {
            return try await withoutActuallyEscaping(engine) { engine in
                var exchange = self.exchange
                exchange.transport = EngineTransport(clock: environment.clock) { request, body in
                    var request = request
                    if isPartial { (request.scheme, request.authority) = (nil, nil) }
                    return try await engine(request, body)
                }
                return try await self.exchange(
                    request,
                    body: body,
                    operation: operation,
                    options: options,
                    context: context,
                    through: exchange
                )
            }
        } catch {
            throw APIError(error, context: context)
        }
    }

    /// Sends a request through the middleware and an ``Exchange``, which passes it to the transport. If the call fails with a status, the
    /// method returns the response with this status instead of throwing. An error of the kind `unknownOutcome` has no status.
    private func exchange(
        _ request: HTTPRequest,
        body: [UInt8]?,
        operation: String?,
        options: CallOptions,
        context: String?,
        through exchange: Exchange
    ) async throws(APIError) -> (response: HTTPResponse, body: [UInt8]) {
        guard let target = URL(string: "\(request.scheme ?? "")://\(request.authority ?? "")").flatMap({ BaseAddress($0) }),
            BaseAddress.isPath(request.path ?? "/")
        else { throw APIError(.invalidRequest, context: context) }
        let endpoint =
            operation.flatMap { RouteTemplate(parsing: "/" + $0) }.map { Endpoint(request.method, $0) }
            ?? routes.endpoint(of: request)
        var policy = policies[endpoint]
        options.apply(to: &policy)
        var request = request
        try request.complete(options, priority: policy.priority, context: context)
        if target.scheme != base?.scheme || target.host != base?.host { policy.isAuthorized = false }
        var exchange = exchange
        exchange.isVerbatim = true
        let contentType = request.headerFields[.contentType] ?? "application/octet-stream"
        do throws(APIError) {
            return try await call(
                request,
                body: body.map { RequestBody($0, contentType: contentType) },
                endpoint: endpoint,
                origin: target.origin,
                policy: policy,
                context: context,
                exchange: exchange
            ) { ($0.response, $0.bytes) }
        } catch {
            guard let status = error.status else { throw error }
            return (HTTPResponse(status: .init(code: status), headerFields: error.headers), error.body)
        }
    }
}

/// A transport that passes requests to another HTTP engine, and cancels the engine when the time limit is reached.
private struct EngineTransport: HTTPTransport {
    let clock: MonotonicClock
    let engine: @Sendable (HTTPRequest, [UInt8]?) async throws -> (HTTPResponse, [UInt8])

    /// Calls the engine, and cancels it after the timeout. The body must be in memory.
    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        do {
            let ended = try await clock.run(until: clock.now + timeout) { try await engine(request, body?.bytes) }
            guard let (response, bytes) = ended else {
                throw TransportError(.timeout, message: "the time was up", wasSent: true)
            }
            return (response, ResponseBody(bytes))
        } catch {
            throw TransportError(engine: error)
        }
    }
}

extension TransportError {
    /// Converts the error of another HTTP engine.
    fileprivate init(engine error: any Error) {
        if let error = error as? TransportError {
            self = error
            return
        }
        let failure = APIError(error, context: nil)
        let code: Code =
            switch failure.kind {
            case .noInternet: .noInternet
            case .timeout: .timeout
            case .cancelled: .cancelled
            case .invalidRequest: .invalidRequest
            case .network where failure.retry == .never: .untrusted
            case .network: .connectionLost
            default: .other
            }
        // The numbers are the codes `cannotFindHost`, `cannotConnectToHost` and `dnsLookupFailed` of `URLError`.
        let isUnreachable =
            (error as NSError).domain == NSURLErrorDomain && [-1_003, -1_004, -1_006].contains((error as NSError).code)
        let neverLeft = isUnreachable || [.noInternet, .invalidRequest, .untrusted].contains(code)
        self.init(isUnreachable ? .unreachable : code, message: "\(type(of: error))", wasSent: !neverLeft, cause: error)
    }
}
