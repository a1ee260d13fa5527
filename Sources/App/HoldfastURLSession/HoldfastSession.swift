import ErrorContract
public import Foundation
import HTTPTypes
public import ResilientHTTP

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Has the shape of `URLSession`, so that existing code gets the retries, gates, breakers and the session of an `APIClient`.
///
/// Replace `URLSession.shared` by a value of this type and leave the rest of the code as it is: responses of any status are returned, after
/// the retries that they deserve, and a request that gets no response throws `URLError`. New code should use `APIClient`, which returns
/// values and typed errors.
///
/// ```swift
/// let session = HoldfastSession(baseURL: url)
/// let (data, response) = try await session.data(for: URLRequest(url: url.appending(path: "orders")))
/// ```
///
/// Requests may go to any host, but only those to the origin of the client's base URL carry the tokens of its session. Redirects are
/// followed for GET and HEAD; there are no cookies. A request with an `httpBodyStream` throws `requestBodyStreamExhausted`. The time-out of a request, if it is not the default of 60 s, is the time that one attempt
/// may take.
///
/// A request that the client itself refused to send, because a gate is closed or a quota is used up, throws `URLError` with the code
/// `resourceUnavailable`. All errors have the `APIError` as their `NSUnderlyingErrorKey`.
public struct HoldfastSession: Sendable {
    /// The client whose middleware the requests pass.
    public let client: APIClient
    /// How calls differ from the policies of their endpoints.
    public var options = CallOptions()

    /// Creates a session over a client.
    public init(_ client: APIClient) {
        self.client = client
    }

    /// Creates a session over a client with all defaults.
    /// - Parameters:
    ///   - baseURL: The address whose origin the tokens of the session are for.
    ///   - session: Whose access token requests to that origin carry; `nil` for none.
    public init(baseURL: URL, session: Session? = nil) {
        client = APIClient(baseURL: baseURL, session: session)
    }

    /// Downloads the content of a URL.
    /// - Throws: `URLError`
    public func data(from url: URL) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url))
    }

    /// Sends a request and returns the content and the head of the response, whatever its status.
    /// - Throws: `URLError`; `CancellationError` never.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        try await exchange(request, body: request.httpBody)
    }

    /// Sends a request with a body and returns the content and the head of the response, whatever its status.
    /// - Throws: `URLError`
    public func upload(for request: URLRequest, from body: Data) async throws -> (Data, URLResponse) {
        try await exchange(request, body: body)
    }

    private func exchange(_ urlRequest: URLRequest, body: Data?) async throws -> (Data, URLResponse) {
        guard let url = urlRequest.url, let request = HTTPRequest(urlRequest) else { throw URLError(.badURL) }
        // A stream can be read once, and the request may have to be sent again.
        if body == nil, urlRequest.httpBodyStream != nil { throw URLError(.requestBodyStreamExhausted) }
        var options = options
        if urlRequest.timeoutInterval > 0, urlRequest.timeoutInterval != 60, options.attemptTimeout == nil {
            // Code that wants no time-out sets it to infinity.
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
    /// The request of a `URLRequest`, without its body; `nil` if it has no address of HTTP.
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
    /// The error that `URLSession` would throw.
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
