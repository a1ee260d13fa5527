public import HTTPTypes
public import ResilientHTTP

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Sends requests through `URLSession`, on Apple platforms and on Linux.
///
/// Keeps no cookies and no cache. Redirects are followed for GET and HEAD only, and a redirect to another origin carries no
/// `Authorization`.
public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    private let exchanges: URLSessionExchanges

    /// Creates a transport.
    /// - Parameters:
    ///   - configuration: The session's configuration; the default keeps nothing on disk.
    ///   - followsRedirects: Whether a GET or HEAD that is redirected goes on; if not, the redirect is the answer.
    public init(configuration: URLSessionConfiguration = .ephemeral, followsRedirects: Bool = true) {
        configuration.httpShouldSetCookies = false
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        self.exchanges = URLSessionExchanges(followsRedirects: followsRedirects)
        self.session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// Sends a request once. Cancelling the task ends the transfer; so does the end of the time, while the body comes too.
    public func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let urlRequest = try URLRequest(request, body: body, timeout: timeout)
        let task = session.dataTask(with: urlRequest)
        exchanges.limit(task, to: timeout)
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    exchanges.begin(task, continuation: continuation)
                    task.resume()
                }
            } onCancel: {
                task.cancel()
            }
        } catch {
            throw TransportError(urlSession: error)
        }
    }
}

extension HTTPTransport where Self == URLSessionTransport {
    /// A transport through `URLSession`.
    public static func urlSession(configuration: URLSessionConfiguration = .ephemeral) -> URLSessionTransport {
        URLSessionTransport(configuration: configuration)
    }
}
