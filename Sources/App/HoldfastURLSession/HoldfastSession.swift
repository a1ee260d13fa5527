import ErrorContract
public import Foundation
import HTTPTypes
public import ResilientHTTP

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A replacement for `URLSession` that adds the features of an `APIClient` to existing code: retries, gates, circuit breakers and the
/// session.
///
/// Replace `URLSession.shared` with a value of this type, and leave the other code unchanged. If the client no longer retries a request,
/// the session returns the response with any status. A request without a response throws `URLError`. New code should use `APIClient`, which
/// returns values and typed errors.
///
/// ```swift
/// let session = HoldfastSession(baseURL: url)
/// let (data, response) = try await session.data(for: URLRequest(url: url.appending(path: "orders")))
/// ```
///
/// Requests may go to any host. The tokens of the session are only sent to the origin of the client's base URL. Redirects are followed for
/// GET and HEAD. There are no cookies.
///
/// A request with an `httpBodyStream` throws `requestBodyStreamExhausted`, because a stream can't be sent twice. If a request has another
/// timeout than the default of 60 s, its timeout limits the duration of one attempt.
///
/// The client itself refuses some requests. The methods then throw `URLError`. The code is `resourceUnavailable` after a 429 or if a quota
/// is used up. The code is `unknown` if the server is failing: a 503 closed a gate, or a circuit breaker is open. The
/// `NSUnderlyingErrorKey` of each error is the `APIError`.
///
/// The whole response is stored in memory. A success fails if its body exceeds the client's `maximumBodySize`, which is 16 MiB by default.
/// Use `APIClient` to download or upload large bodies.
public struct HoldfastSession: Sendable {
    /// The client whose middleware handles the requests. Copies of the session share this client.
    public let client: APIClient
    /// The options of all calls. They replace the corresponding settings in the policies of the endpoints. By default, no option is set.
    public var options = CallOptions()

    /// Creates a session that uses a client.
    /// - Parameter client: The client, with any transport and middleware.
    public init(_ client: APIClient) {
        self.client = client
    }

    /// Creates a session that uses a client with all defaults.
    /// - Parameters:
    ///   - baseURL: The address whose origin receives the tokens of the session.
    ///   - session: The session whose access token is sent with requests to that origin; `nil` for no session.
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
    /// - Parameter request: The request. Its `httpBody` may be sent several times, if the method or an idempotency key allows retries.
    /// - Returns: The content, and the head as an `HTTPURLResponse`. Its address is the address of the request, also after a redirect.
    /// - Throws: `URLError`, and never `CancellationError`. If the task is canceled, the code is `cancelled`.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try await exchange(request, body: request.httpBody)
    }

    /// Sends a request with a body and returns the content and the head of the response, with any status.
    ///
    /// - Parameters:
    ///   - request: The request. Its own body is ignored.
    ///   - body: The body. It may be sent several times, like the body of ``data(for:)``.
    /// - Returns: The content, and the head as an `HTTPURLResponse`.
    /// - Throws: `URLError`, like ``data(for:)``.
    public func upload(for request: URLRequest, from body: Data) async throws -> (Data, URLResponse) {
        try await exchange(request, body: body)
    }

    /// Sends a request through the client. Converts between the types of Foundation and the types of the client.
    /// - Throws: `URLError`. Its underlying error is the `APIError` of the client.
    private func exchange(_ urlRequest: URLRequest, body: Data?) async throws -> (Data, URLResponse) {
        guard let url = urlRequest.url, let request = HTTPRequest(urlRequest) else { throw URLError(.badURL) }
        // A stream can only be read once, and the request may have to be sent again.
        if body == nil, urlRequest.httpBodyStream != nil { throw URLError(.requestBodyStreamExhausted) }
        var options = options
        if urlRequest.timeoutInterval > 0, urlRequest.timeoutInterval != 60, options.attemptTimeout == nil {
            // Some code sets the timeout to infinity to have no timeout.
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
    /// Creates the request of a `URLRequest`, without its body. Header fields with invalid names are omitted.
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
    /// Creates the error that `URLSession` would throw. For failures of the network and for unknown failures, the code of an original
    /// `URLError` is used. All other kinds have a fixed code.
    fileprivate init(_ error: APIError) {
        let cause = (error.underlying as? TransportError)?.cause as? URLError
        let code: URLError.Code =
            switch error.kind {
            case .throttled: .resourceUnavailable
            case .noInternet: .notConnectedToInternet
            case .timeout: .timedOut
            case .cancelled: .cancelled
            case .invalidRequest: .badURL
            case .unauthorized: .userAuthenticationRequired
            case .network, .unknownOutcome: cause?.code ?? .networkConnectionLost
            default: cause?.code ?? .unknown
            }
        self.init(code, userInfo: [NSUnderlyingErrorKey: error])
    }
}
