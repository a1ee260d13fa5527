import Foundation
import HTTPTypes
import ResilientHTTP
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The exchanges of one session that are in flight, by task.
final class URLSessionExchanges: NSObject, URLSessionDataDelegate {
    typealias Head = CheckedContinuation<(HTTPResponse, ResponseBody), any Error>

    private struct Exchange {
        let task: URLSessionTask
        let deadline: ContinuousClock.Instant
        var phase = Phase.created
        var isCancelled = false
        /// Whether its deadline has passed.
        var isExpired = false
    }

    private enum Phase {
        /// No caller waits yet.
        case created
        /// The head has not arrived.
        case waiting(Head)
        /// The head of a small response has arrived; the caller is resumed with the first bytes of its body.
        case held(Head, HTTPResponse, length: Int)
        /// The caller has the head and reads the body.
        case receiving(AsyncThrowingStream<[UInt8], any Error>.Continuation)
        /// The caller has the whole response.
        case delivered
    }

    private struct State {
        var exchanges: [Int: Exchange] = [:]
        /// The errors of tasks that ended before their callers waited, because they were canceled immediately.
        var failures: [Int: any Error] = [:]
        /// When deadlines are checked next.
        var nextCheck: ContinuousClock.Instant?
    }

    /// The largest body, in bytes, that is delivered together with the head if it arrives together with the head.
    static let largestHeldBody = 65_536
    private let state = Mutex(State())

    /// Registers a task, which is canceled at the deadline, even while its body arrives: `timeoutInterval` would only bound the silence
    /// between two bytes.
    func add(_ task: URLSessionTask, deadline: ContinuousClock.Instant) {
        let isFirst = state.withLock { state in
            state.exchanges[task.taskIdentifier] = Exchange(task: task, deadline: deadline)
            if let nextCheck = state.nextCheck, nextCheck <= deadline { return false }
            state.nextCheck = deadline
            return true
        }
        if isFirst { scheduleCheck(at: deadline) }
    }

    /// Stores a continuation, which is resumed with the response of a task.
    /// - Returns: Whether the task must be started: it must not if it has been canceled, and the continuation has been resumed then.
    func begin(_ task: URLSessionTask, continuation: Head) -> Bool {
        let failure = state.withLock { state -> (any Error)? in
            if let failure = state.failures.removeValue(forKey: task.taskIdentifier) { return failure }
            if state.exchanges[task.taskIdentifier]?.isCancelled == true {
                let isExpired = state.exchanges.removeValue(forKey: task.taskIdentifier)?.isExpired == true
                return URLError(isExpired ? .timedOut : .cancelled)
            }
            state.exchanges[task.taskIdentifier]?.phase = .waiting(continuation)
            return nil
        }
        if let failure { continuation.resume(throwing: failure) }
        return failure == nil
    }

    /// Cancels a task.
    ///
    /// On Linux a session that waits for the decision about a redirect must get it before the cancellation or not at all, or the process ends.
    /// Therefore the decision is made under the lock, and only if no cancellation has been noted.
    func cancel(_ task: URLSessionTask) {
        let isRunning = state.withLock { state in
            guard state.exchanges[task.taskIdentifier] != nil else { return false }
            state.exchanges[task.taskIdentifier]?.isCancelled = true
            return true
        }
        if isRunning { cancelLater([task]) }
    }

    /// Cancels tasks from another thread: a cancellation waits for the queue of the session, on which this method may have been called.
    private func cancelLater(_ tasks: [URLSessionTask]) {
        DispatchQueue.global().async { for task in tasks { task.cancel() } }
    }

    /// One timer serves all tasks of the session. It is set to the earliest deadline; as most tasks end long before their deadlines, it
    /// fires seldom.
    private func scheduleCheck(at instant: ContinuousClock.Instant) {
        let (seconds, attoseconds) = max(.zero, ContinuousClock.now.duration(to: instant)).components
        // More nanoseconds than an Int holds are centuries.
        let delay = seconds < 1_000_000_000 ? Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000) : .max
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(delay)) { [weak self] in
            self?.checkDeadlines(at: instant)
        }
    }

    private func checkDeadlines(at instant: ContinuousClock.Instant) {
        let (next, expired) = state.withLock { state -> (ContinuousClock.Instant?, [URLSessionTask]) in
            // An earlier check has been scheduled since.
            guard state.nextCheck == instant else { return (nil, []) }
            let now = ContinuousClock.now
            var expired: [URLSessionTask] = []
            state.nextCheck = nil
            for (number, exchange) in state.exchanges where !exchange.isCancelled {
                if exchange.deadline <= now {
                    state.exchanges[number]?.isCancelled = true
                    state.exchanges[number]?.isExpired = true
                    expired.append(exchange.task)
                } else {
                    state.nextCheck = min(state.nextCheck ?? exchange.deadline, exchange.deadline)
                }
            }
            return (state.nextCheck, expired)
        }
        if !expired.isEmpty { cancelLater(expired) }
        if let next { scheduleCheck(at: next) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        defer { completionHandler(.allow) }
        // On Linux, interim responses (100, 103) are reported as if they were the response.
        if let status = (response as? HTTPURLResponse)?.statusCode, (100..<200).contains(status) { return }
        let head = HTTPResponse(urlResponse: response)
        // A caller that is resumed with the head waits a second time, for the body. Small bodies are in the same packet as their heads.
        let length = Int(clamping: response.expectedContentLength)
        let isHeld = (0...Self.largestHeldBody).contains(length)
        let receiver = state.withLock { state -> Receiver? in
            // On Linux the head of a 308 is reported twice.
            guard case .waiting(let caller) = state.exchanges[dataTask.taskIdentifier]?.phase else { return nil }
            if isHeld {
                // The length is that of the packed body.
                let isPacked = head.headerFields.contains(.contentEncoding)
                state.exchanges[dataTask.taskIdentifier]?.phase = .held(caller, head, length: isPacked ? .max : length)
                return nil
            }
            return receive(dataTask, caller: caller, &state)
        }
        receiver?.resume(head)
    }

    /// A caller that reads its body from a stream.
    private struct Receiver {
        let caller: Head
        let body: AsyncThrowingStream<[UInt8], any Error>
        let chunks: AsyncThrowingStream<[UInt8], any Error>.Continuation

        func resume(_ head: HTTPResponse) { caller.resume(returning: (head, ResponseBody(body))) }
    }

    private func receive(_ task: URLSessionTask, caller: Head, _ state: inout State) -> Receiver {
        let (body, chunks) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        // A reader that stops early ends the transfer.
        chunks.onTermination = { [weak self] in if case .cancelled = $0 { self?.cancel(task) } }
        state.exchanges[task.taskIdentifier]?.phase = .receiving(chunks)
        return Receiver(caller: caller, body: body, chunks: chunks)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let resume = state.withLock { state -> (() -> Void)? in
            switch state.exchanges[dataTask.taskIdentifier]?.phase {
            case .held(let caller, let head, let length) where data.count >= length:
                state.exchanges[dataTask.taskIdentifier]?.phase = .delivered
                return { caller.resume(returning: (head, ResponseBody([UInt8](data)))) }
            case .held(let caller, let head, _):
                let receiver = receive(dataTask, caller: caller, &state)
                return {
                    receiver.chunks.yield([UInt8](data))
                    receiver.resume(head)
                }
            case .receiving(let chunks): return { chunks.yield([UInt8](data)) }
            case .created, .waiting, .delivered, nil: return nil
            }
        }
        resume?()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError completion: (any Error)?) {
        let (phase, error) = state.withLock { state -> (Phase?, (any Error)?) in
            guard let exchange = state.exchanges.removeValue(forKey: task.taskIdentifier) else { return (nil, nil) }
            // A deadline that passes at the very end must not turn a whole response into an error.
            let error = exchange.isExpired && completion != nil ? URLError(.timedOut) : completion
            if case .created = exchange.phase { state.failures[task.taskIdentifier] = error ?? URLError(.cancelled) }
            return (exchange.phase, error)
        }
        switch phase {
        case .waiting(let caller):
            // On Linux, the head of a redirect that names no address is not reported.
            if error == nil, let response = task.response {
                caller.resume(returning: (HTTPResponse(urlResponse: response), ResponseBody()))
            } else {
                caller.resume(throwing: error ?? URLError(.badServerResponse))
            }
        case .held(let caller, let head, _):
            guard let error else { return caller.resume(returning: (head, ResponseBody())) }
            let failure = TransportError(urlSession: error, isReceiving: true)
            caller.resume(returning: (head, ResponseBody { throw failure }))
        case .receiving(let chunks): chunks.finish(throwing: error.map { TransportError(urlSession: $0, isReceiving: true) })
        case .created, .delivered, nil: break
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
        state.withLock { state in
            if state.exchanges[task.taskIdentifier]?.isCancelled == false { completionHandler(nil) }
        }
    }
}
