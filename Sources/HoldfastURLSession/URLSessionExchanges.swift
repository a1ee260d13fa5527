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

    private let exchanges = Mutex<[Int: Exchange]>([:])
    /// The tasks that have not ended.
    private let running = Mutex<[Int: Progress]>([:])

    private struct Progress {
        var isCancelled = false
        /// Whether its time was up.
        var isExpired = false
    }

    func begin(_ task: URLSessionTask, continuation: Head) {
        let failure = exchanges.withLock { exchanges -> (any Error)? in
            if case .ended(let error) = exchanges.removeValue(forKey: task.taskIdentifier) { return error }
            exchanges[task.taskIdentifier] = .waiting(continuation)
            return nil
        }
        if let failure { continuation.resume(throwing: failure) }
    }

    /// Ends a task when its time is up, its body included: `timeoutInterval` would only bound the silence between two bytes.
    func limit(_ task: URLSessionTask, to timeout: Duration) {
        let number = task.taskIdentifier
        running.withLock { $0[number] = Progress() }
        // More nanoseconds than an Int holds are centuries.
        let (seconds, attoseconds) = timeout.components
        let delay = seconds < 1_000_000_000 ? Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000) : .max
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(max(0, delay))) { [weak self, weak task] in
            if let self, let task { cancel(task, isExpired: true) }
        }
    }

    /// Ends a task.
    ///
    /// Under the lock of redirects: on Linux a task that is cancelled while its session waits to hear about a redirect must not be
    /// told about it any more, or the process ends.
    func cancel(_ task: URLSessionTask, isExpired: Bool = false) {
        running.withLock { running in
            guard running[task.taskIdentifier] != nil else { return }
            running[task.taskIdentifier]?.isCancelled = true
            if isExpired { running[task.taskIdentifier]?.isExpired = true }
            task.cancel()
        }
    }

    /// Whether a task that has ended did so because its time was up; asked once.
    private func hasExpired(_ task: URLSessionTask) -> Bool {
        running.withLock { $0.removeValue(forKey: task.taskIdentifier)?.isExpired ?? false }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        // On Linux what comes ahead of the answer (100, 103) is told as if it were the answer.
        if let status = (response as? HTTPURLResponse)?.statusCode, (100..<200).contains(status) {
            return completionHandler(.allow)
        }
        let (stream, body) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let head = exchanges.withLock { exchanges -> Head? in
            guard case .waiting(let head) = exchanges[dataTask.taskIdentifier] else { return nil }
            exchanges[dataTask.taskIdentifier] = .receiving(body)
            return head
        }
        // On Linux the head of a 308 is told twice.
        guard let head else { return completionHandler(.allow) }
        // A reader that stops early ends the transfer.
        body.onTermination = { [weak self] in if case .cancelled = $0 { self?.cancel(dataTask) } }
        head.resume(returning: (HTTPResponse(urlResponse: response), ResponseBody(stream)))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let exchange = exchanges.withLock { $0[dataTask.taskIdentifier] }
        if case .receiving(let body) = exchange { body.yield([UInt8](data)) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError completion: (any Error)?) {
        // A late time-out must not turn a whole answer into an error.
        let error = hasExpired(task) && completion != nil ? URLError(.timedOut) : completion
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
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The transport follows redirects itself, by the rules of `Redirection`.
        running.withLock { running in
            if running[task.taskIdentifier]?.isCancelled == false { completionHandler(nil) }
        }
    }
}
