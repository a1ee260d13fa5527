import ErrorContract
public import Foundation
import HTTPTypes
public import ResilientHTTP

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A replacement for `URLSession` that adds the features of an `APIClient` to existing code: retries, gates, circuit breakers and the
/// access token of the user's session.
///
/// Replace `URLSession.shared` with a value of this type, and leave the other code unchanged. The methods return the last response with any
/// status, after the client has made all retries. If a request gets no response, they throw `URLError`. New code should use `APIClient`,
/// which returns values and typed errors.
///
/// ```swift
/// let session = HoldfastSession(baseURL: url)
/// let (data, response) = try await session.data(for: URLRequest(url: url.appending(path: "orders")))
/// ```
///
/// Requests can go to any host. The client sends the user's access token only to the origin of its base URL. The transport follows
/// redirects of GET and HEAD requests, and has no cookies.
///
/// A request with an `httpBodyStream` throws `requestBodyStreamExhausted`, because a stream can't be sent twice. If the timeout of a
/// request is not the default of 60 s, this timeout limits the duration of one attempt.
///
/// Suppose that the client generated the idempotency key of a request, the response to one attempt was lost, and the last response is a
/// temporary refusal such as 503. The server may have performed this request, so the methods throw a `URLError` with the code
/// `networkConnectionLost`.
///
/// The client itself can refuse to send a request. The methods then throw a `URLError`. The code of this error is `resourceUnavailable` if
/// the server responded to an earlier request with 429, or if a quota of the app is used up. The code is `unknown` if the server fails: a
/// 503 closed a gate, or a circuit breaker is open. The `NSUnderlyingErrorKey` of each error is the `APIError`.
///
/// The client stores the whole response in memory. If the body of a success exceeds the client's `maximumBodySize`, the request fails. This
/// maximum is 16 MiB by default. Use `APIClient` to download or upload large bodies.
public struct HoldfastSession: Sendable {
    /// The client that sends the requests. Copies of this value share the client's state.
    public let client: APIClient
    /// The options of all calls, which take precedence over the policies of the endpoints. By default, no option is set.
    public var options = CallOptions()

    /// Creates a session that uses a client.
    /// - Parameter client: The client, with any transport and middleware.
    public init(_ client: APIClient) {
        self.client = client
    }

    /// Creates a session that uses a client with all defaults.
    /// - Parameters:
    ///   - baseURL: The base URL of the client. Only its origin receives the access token.
    ///   - session: The user's session, whose access token the client adds to requests; `nil` for no session.
    public init(baseURL: URL, session: Session? = nil) {
        client = APIClient(baseURL: baseURL, session: session)
    }

    /// Downloads the content of a URL with a GET request.
    /// - Parameter url: The address, with the scheme `http` or `https`.
    /// - Returns: The content, and the head as an `HTTPURLResponse`.
    /// - Throws: `URLError`, like ``data(for:)``.
    public func data(from url: URL) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url))
    }

    /// Sends a request and returns the content and the head of the response, with any status.
    ///
    /// - Parameter request: The request. The client can send its `httpBody` several times if the method or an idempotency key allows
    ///   retries.
    /// - Returns: The content, and the head as an `HTTPURLResponse`. The `url` of the head is the address of the request, even after a
    ///   redirect.
    /// - Throws: `URLError`, and never `CancellationError`. If the task is canceled, the code is `cancelled`.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try await exchange(request, body: request.httpBody)
    }

    /// Sends a request with a body and returns the content and the head of the response, with any status.
    ///
    /// - Parameters:
    ///   - request: The request. The method ignores the body of this request.
    ///   - body: The body. The client can send it several times, like the body of ``data(for:)``.
    /// - Returns: The content, and the head as an `HTTPURLResponse`.
    /// - Throws: `URLError`, like ``data(for:)``.
    public func upload(for request: URLRequest, from body: Data) async throws -> (Data, URLResponse) {
        try await exchange(request, body: body)
    }

    /// Sends a request through the client, and converts between the types of Foundation and the types of the client.
    /// - Throws: `URLError`. Its underlying error is the `APIError` of the client.
    private func exchange(_ urlRequest: URLRequest, body: Data?) async throws -> (Data, URLResponse) {
        guard let url = urlRequest.url, let request = HTTPRequest(urlRequest) else { throw URLError(.badURL) }
        // A stream can be read only once, but the client may have to send the request again.
        if body == nil, urlRequest.httpBodyStream != nil { throw URLError(.requestBodyStreamExhausted) }
        var options = options
        if urlRequest.timeoutInterval > 0, urlRequest.timeoutInterval != 60, options.attemptTimeout == nil {
            // Some code sets the timeout to infinity if it needs no timeout.
            options.attemptTimeout = .seconds(min(urlRequest.timeoutInterval, 365 * 86_400))
        }
        do {
            let (response, bytes) = try await client.exchange(request, body: body.map { [UInt8]($0) }, options: options)
            let fields = Dictionary(response.headerFields.map { ($0.name.rawName, $0.value) }) { "\($0), \($1)" }
            let head = HTTPURLResponse(url: url, statusCode: response.status.code, httpVersion: "HTTP/1.1", headerFields: fields)
            guard let head else { throw URLError(.badServerResponse) }
            return (Data(bytes), head)
        } catch let error as APIError {
            throw URLError(error)
        }
    }
}

extension HTTPRequest {
    /// Creates a request from a `URLRequest`, without its body and without header fields that have invalid names.
    /// - Returns: `nil` if the request has no address with the scheme `http` or `https` and a host, or if its method is invalid.
    init?(_ request: URLRequest) {
        guard let url = request.url, let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(), scheme == "https" || scheme == "http",
            let host = parts.percentEncodedHost, !host.isEmpty, let method = HTTPRequest.Method(request.httpMethod ?? "GET")
        else { return nil }
        let path =
            (parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath)
            + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
        self.init(method: method, scheme: scheme, authority: parts.port.map { "\(host):\($0)" } ?? host, path: path)
        for (name, value) in request.allHTTPHeaderFields ?? [:] {
            if let name = HTTPField.Name(name) { headerFields[name] = value }
        }
    }
}

extension URLError {
    /// Creates the error that `URLSession` would throw. For failures of the network, for invalid requests and for unknown failures, the
    /// initializer uses the code of the original `URLError`, if there is one. All other kinds have a fixed code.
    fileprivate init(_ error: APIError) {
        let cause = (error.underlying as? TransportError)?.cause as? URLError
        let code: URLError.Code =
            switch error.kind {
            case .throttled: .resourceUnavailable
            case .noInternet: .notConnectedToInternet
            case .timeout: .timedOut
            case .cancelled: .cancelled
            case .invalidRequest: cause?.code ?? .badURL
            case .unauthorized: .userAuthenticationRequired
            case .network, .unknownOutcome: cause?.code ?? .networkConnectionLost
            default: cause?.code ?? .unknown
            }
        self.init(code, userInfo: [NSUnderlyingErrorKey: error])
    }
}
