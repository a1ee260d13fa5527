import Foundation
import HTTPTypes
import ResilientHTTP
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The requests of one session that are under way, by task.
final class URLSessionExchanges: NSObject, URLSessionDataDelegate {
    typealias Head = CheckedContinuation<(HTTPResponse, ResponseBody), any Error>

    private enum Exchange {
        /// The head has not come.
        case waiting(Head)
        /// The head has come, the body is coming.
        case receiving(AsyncThrowingStream<[UInt8], any Error>.Continuation)
        /// The task ended before anybody waited for it: it was cancelled at once.
        case ended(any Error)
    }

    private let followsRedirects: Bool
    private let exchanges = Mutex<[Int: Exchange]>([:])

    init(followsRedirects: Bool) {
        self.followsRedirects = followsRedirects
    }

    func begin(_ task: URLSessionTask, continuation: Head) {
        let failure = exchanges.withLock { exchanges -> (any Error)? in
            if case .ended(let error) = exchanges.removeValue(forKey: task.taskIdentifier) { return error }
            exchanges[task.taskIdentifier] = .waiting(continuation)
            return nil
        }
        if let failure { continuation.resume(throwing: failure) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        let (stream, body) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let head = exchanges.withLock { exchanges -> Head? in
            guard case .waiting(let head) = exchanges[dataTask.taskIdentifier] else { return nil }
            exchanges[dataTask.taskIdentifier] = .receiving(body)
            return head
        }
        // A reader that stops early ends the transfer.
        body.onTermination = { if case .cancelled = $0 { dataTask.cancel() } }
        head?.resume(returning: (HTTPResponse(urlResponse: response), ResponseBody(stream)))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let exchange = exchanges.withLock { $0[dataTask.taskIdentifier] }
        if case .receiving(let body) = exchange { body.yield([UInt8](data)) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = exchanges.withLock { exchanges -> Exchange? in
            let exchange = exchanges.removeValue(forKey: task.taskIdentifier)
            if exchange == nil { exchanges[task.taskIdentifier] = .ended(error ?? URLError(.cancelled)) }
            return exchange
        }
        switch exchange {
        case .waiting(let head):
            // A redirect that names no address ends on Linux without the delegate being told of the answer.
            if error == nil, let response = task.response {
                head.resume(returning: (HTTPResponse(urlResponse: response), ResponseBody()))
            } else {
                head.resume(throwing: error ?? URLError(.badServerResponse))
            }
        case .receiving(let body): body.finish(throwing: error.map { TransportError(urlSession: $0, isReceiving: true) })
        case .ended, nil: break
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        guard followsRedirects, let origin = task.originalRequest, ["GET", "HEAD"].contains(origin.httpMethod ?? "GET") else {
            return completionHandler(nil)
        }
        var redirected = request
        if origin.url?.origin != request.url?.origin { redirected.setValue(nil, forHTTPHeaderField: "Authorization") }
        completionHandler(redirected)
    }
}

extension URL {
    /// Scheme, host and port, the latter filled in.
    fileprivate var origin: [String] {
        let scheme = scheme?.lowercased() ?? ""
        return [scheme, host?.lowercased() ?? "", "\(port ?? (scheme == "https" ? 443 : 80))"]
    }
}
