public import ErrorContract
public import Foundation
public import HTTPTypes

/// Calls an API and returns values, or throws one typed error.
///
/// The status is looked at before the body. A success may be wrapped or flat; an error may have any of the contract's forms.
/// Nothing is repeated here: what may be repeated, and when, is the business of ``ClientMiddleware``.
public struct APIClient: Sendable {
    /// The address that paths are relative to.
    public let baseURL: URL
    /// The language that answers are asked for in.
    public var language: Language
    /// The time that a call may take.
    public var timeout: Duration
    /// The largest body of a success that is read, in bytes.
    public var maximumBodySize = 16 * 1024 * 1024
    private let transport: any HTTPTransport
    private let middleware: [any ClientMiddleware]
    private let catalogue: ErrorCatalogue
    private let wallClock: @Sendable () -> Date

    /// Creates a client.
    /// - Parameters:
    ///   - baseURL: The address that paths are relative to, with scheme and host.
    ///   - transport: The HTTP engine.
    ///   - language: The language that answers are asked for in.
    ///   - timeout: The time that a call may take.
    ///   - middleware: What stands between the client and the transport, the first outermost.
    ///   - catalogue: The codes that the app knows.
    ///   - wallClock: The local time, against which dates in answers are measured.
    public init(
        baseURL: URL,
        transport: any HTTPTransport,
        language: Language = .english,
        timeout: Duration = .seconds(30),
        middleware: [any ClientMiddleware] = [],
        catalogue: ErrorCatalogue = .standard,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.baseURL = baseURL
        self.transport = transport
        self.language = language
        self.timeout = timeout
        self.middleware = middleware
        self.catalogue = catalogue
        self.wallClock = wallClock
    }

    /// Gets a value.
    /// - Parameters:
    ///   - path: The path, with a query if there is one, percent-encoded and without a fragment.
    ///   - headers: Further headers.
    ///   - context: Where in the app the call is made.
    public func get<Value: Decodable>(
        _ path: String,
        headers: HTTPFields = [:],
        context: String? = nil
    ) async throws(APIError) -> Value {
        try await value(.get, path, body: nil, headers: headers, context: context)
    }

    /// Posts a value as JSON and returns the answer.
    public func post<Value: Decodable>(
        _ path: String,
        _ body: some Encodable,
        headers: HTTPFields = [:],
        context: String? = nil
    ) async throws(APIError) -> Value {
        try await value(.post, path, body: json(body, context: context), headers: headers, context: context)
    }

    /// Posts a value as JSON, for an answer that says nothing more. A body is read only as far as it takes to see that it
    /// neither refuses nor is a page of somebody else.
    public func post(
        _ path: String,
        _ body: some Encodable,
        headers: HTTPFields = [:],
        context: String? = nil
    ) async throws(APIError) {
        let answer = try await send(.post, path, body: json(body, context: context), headers: headers, context: context)
        guard !answer.body.isEmpty else { return }
        do throws(APIError) {
            let _: Acknowledgement = try decoded(answer.response, bytes: answer.body, context: context)
        } catch {
            guard error.kind == .decoding else { throw error }
        }
    }

    private func value<Value: Decodable>(
        _ method: HTTPRequest.Method,
        _ path: String,
        body: RequestBody?,
        headers: HTTPFields,
        context: String?
    ) async throws(APIError) -> Value {
        let answer = try await send(method, path, body: body, headers: headers, context: context)
        return try decoded(answer.response, bytes: answer.body, context: context)
    }

    private func decoded<Value: Decodable>(
        _ response: HTTPResponse,
        bytes: [UInt8],
        context: String?
    ) throws(APIError) -> Value {
        do {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            return try decoder.decode(SuccessEnvelope<Value>.self, from: Data(bytes)).value
        } catch is RefusedInBody {
            throw refusal(response, bytes: bytes, context: context)
        } catch {
            let isPage = bytes.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
            throw unreadable(response, kind: isPage ? .notAPI : .decoding, context: context, underlying: error)
        }
    }

    /// Sends a request and returns the answer of a success, read whole.
    /// - Throws: ``APIError`` for every other status, and if no answer came.
    public func send(
        _ method: HTTPRequest.Method,
        _ path: String,
        body: RequestBody? = nil,
        headers: HTTPFields = [:],
        context: String? = nil
    ) async throws(APIError) -> (response: HTTPResponse, body: [UInt8]) {
        let request = try makeRequest(method, path, body: body, headers: headers, context: context)
        let response: HTTPResponse
        let bytes: [UInt8]
        do {
            let answer = try await exchange(request, body: body, context: CallContext(name: context, timeout: timeout))
            response = answer.0
            let isSuccess = response.status.kind == .successful
            let limit = isSuccess ? maximumBodySize : ErrorDecoder.maximumBodySize
            do {
                let collected = try await answer.1.collect(upTo: limit)
                if isSuccess, collected.isTruncated { throw unreadable(response, kind: .decoding, context: context) }
                bytes = collected.bytes
            } catch  where !isSuccess && !Task.isCancelled {
                // The status has said it all; only the server's words are lost.
                bytes = []
            }
        } catch {
            throw APIError(error, method: method, context: context)
        }
        guard response.status.kind == .successful else { throw refusal(response, bytes: bytes, context: context) }
        return (response, bytes)
    }

    private func exchange(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext
    ) async throws -> (HTTPResponse, ResponseBody) {
        var next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody) = { request, body in
            try await transport.send(request, body: body, timeout: context.timeout)
        }
        for layer in middleware.reversed() {
            let inner = next
            next = { try await layer.intercept($0, body: $1, context: context, next: inner) }
        }
        return try await next(request, body)
    }

    /// The error for a success whose body is not what was asked for.
    private func unreadable(
        _ response: HTTPResponse,
        kind: APIError.Kind,
        context: String?,
        underlying: (any Error)? = nil
    ) -> APIError {
        var error = APIError(
            kind: kind,
            code: kind == .notAPI ? .notAPIResponse : .decodingError,
            context: context,
            underlying: underlying
        )
        error.status = response.status.code
        error.requestID = refusal(response, bytes: [], context: context).requestID
        return error
    }

    private func refusal(_ response: HTTPResponse, bytes: [UInt8], context: String?) -> APIError {
        let answer = ErrorDecoder().decode(
            status: response.status.code,
            headers: response.headerFields,
            body: bytes,
            now: wallClock()
        )
        return APIError(answer, catalogue: catalogue, context: context)
    }
}

extension APIClient {
    private func json(_ body: some Encodable, context: String?) throws(APIError) -> RequestBody {
        do {
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return RequestBody([UInt8](try encoder.encode(body)), contentType: "application/json")
        } catch {
            throw APIError(kind: .invalidRequest, code: .invalidRequest, context: context, attempts: 0, underlying: error)
        }
    }

    private func makeRequest(
        _ method: HTTPRequest.Method,
        _ path: String,
        body: RequestBody?,
        headers: HTTPFields,
        context: String?
    ) throws(APIError) -> HTTPRequest {
        guard let parts = URLComponents(url: baseURL, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(), scheme == "https" || scheme == "http",
            let host = parts.percentEncodedHost, !host.isEmpty,
            path.hasPrefix("/"), path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
        else {
            throw APIError(kind: .invalidRequest, code: .invalidRequest, context: context, attempts: 0)
        }
        let prefix =
            parts.percentEncodedPath.hasSuffix("/") ? String(parts.percentEncodedPath.dropLast()) : parts.percentEncodedPath
        var fields = headers
        fields[.accept] = "application/json"
        fields[.acceptLanguage] = language.rawValue
        if let body { fields[.contentType] = body.contentType }
        return HTTPRequest(
            method: method,
            scheme: scheme,
            authority: parts.port.map { "\(host):\($0)" } ?? host,
            path: prefix + path,
            headerFields: fields
        )
    }
}
