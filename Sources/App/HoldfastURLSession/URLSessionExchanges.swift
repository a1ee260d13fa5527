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

    /// Read and changed only under the lock.
    private final class Exchange {
        let task: URLSessionTask
        /// When the exchange must have ended; of a streamed one, when the head of a success must have arrived.
        var deadline: ContinuousClock.Instant?
        /// The longest time without a byte; `nil` if the exchange is not streamed.
        let idleTimeout: Duration?
        /// When the exchange ends unless a byte is sent or received; `nil` while its reader takes none.
        var idleDeadline: ContinuousClock.Instant?
        /// Whether the session is paused because the reader takes no bytes. Bytes that were on their way may still arrive.
        var isPaused = false
        /// Observes how the body of the request is sent.
        let progress: (@Sendable (TransferProgress) -> Void)?
        /// The number of bytes of the body of the request, if it is known.
        let length: Int64?
        /// Ends the sending of a body that is a stream.
        let endBody: (@Sendable () -> Void)?
        /// The body of the response.
        var inbox: Inbox?
        var phase = Phase.created
        var isCancelled = false
        /// Whether its deadline has passed.
        var isExpired = false
        /// Whether the server was not trusted by the challenge handler.
        var isUntrusted = false

        /// When the exchange ends unless something happens.
        var expiry: ContinuousClock.Instant? {
            guard let deadline, let idleDeadline else { return deadline ?? idleDeadline }
            return min(deadline, idleDeadline)
        }

        init(
            task: URLSessionTask,
            deadline: ContinuousClock.Instant,
            idleTimeout: Duration?,
            body: RequestBody?,
            endBody: (@Sendable () -> Void)?
        ) {
            (self.task, self.deadline, self.idleTimeout, self.endBody) = (task, deadline, idleTimeout, endBody)
            progress = body?.progress
            length = body?.progress == nil ? nil : body?.length
            noteActivity()
        }

        /// Notes that a byte was sent or received.
        func noteActivity() {
            if let idleTimeout, !isPaused { idleDeadline = .now + idleTimeout }
        }

        var cancellation: Cancellation { Cancellation(task: task, endBody: endBody, inbox: inbox) }
    }

    /// What a cancellation needs of an exchange.
    private struct Cancellation: Sendable {
        let task: URLSessionTask
        let endBody: (@Sendable () -> Void)?
        let inbox: Inbox?

        /// Lets threads go that wait for the body of the request or for a reader: they may be the queue that the cancellation waits for.
        func unblock() {
            endBody?()
            inbox?.close()
        }
    }

    private enum Phase {
        /// No caller waits yet.
        case created
        /// The head has not arrived.
        case waiting(Head)
        /// The head of a small response has arrived; the caller is resumed with the first bytes of its body.
        case held(Head, HTTPResponse, length: Int)
        /// The caller has the head and reads the body.
        case receiving(Inbox)
        /// The caller has the whole response.
        case delivered
    }

    private struct State {
        var exchanges: [Int: Exchange] = [:]
        /// The errors of tasks that ended before their callers waited, because they were canceled immediately.
        var failures: [Int: any Error] = [:]
        /// When deadlines are checked next.
        var nextCheck: ContinuousClock.Instant?

        /// - Returns: When a check must be scheduled, if none is that early.
        mutating func noteExpiry(_ expiry: ContinuousClock.Instant?) -> ContinuousClock.Instant? {
            guard let expiry, nextCheck.map({ expiry < $0 }) ?? true else { return nil }
            nextCheck = expiry
            return expiry
        }
    }

    /// The largest body, in bytes, that is delivered together with the head if it arrives together with the head.
    static let largestHeldBody = 65_536
    /// The number of bytes of a streamed body that are stored for a slow reader before the session pauses.
    static let mostStored = 262_144
    private let state = Mutex(State())
    #if !canImport(FoundationNetworking)
        private let challenges: URLSessionTransport.ChallengeHandler?

        /// - Parameter challenges: Decides about authentication challenges; `nil` to let the system decide.
        init(challenges: URLSessionTransport.ChallengeHandler? = nil) {
            self.challenges = challenges
        }
    #endif

    /// Registers a task, which is canceled at the deadline, even while its body arrives: `timeoutInterval` would only bound the silence
    /// between two bytes.
    /// - Parameters:
    ///   - task: The task.
    ///   - deadline: When the exchange must have ended; of a streamed one, when the head of a success must have arrived.
    ///   - idleTimeout: The longest time without a byte; `nil` if the exchange is not streamed.
    ///   - body: The body of the request.
    ///   - endBody: Ends the sending of a body that is a stream.
    func add(
        _ task: URLSessionTask,
        deadline: ContinuousClock.Instant,
        idleTimeout: Duration? = nil,
        body: RequestBody? = nil,
        endBody: (@Sendable () -> Void)? = nil
    ) {
        let check = state.withLock { state in
            let exchange = Exchange(task: task, deadline: deadline, idleTimeout: idleTimeout, body: body, endBody: endBody)
            state.exchanges[task.taskIdentifier] = exchange
            return state.noteExpiry(exchange.expiry)
        }
        if let check { scheduleCheck(at: check) }
    }

    /// Stores a continuation, which is resumed with the response of a task.
    /// - Returns: Whether the task must be started: it must not if it has been canceled, and the continuation has been resumed then.
    func begin(_ task: URLSessionTask, continuation: Head) -> Bool {
        let failure = state.withLock { state -> (any Error)? in
            if let failure = state.failures.removeValue(forKey: task.taskIdentifier) { return failure }
            guard let exchange = state.exchanges[task.taskIdentifier] else { return nil }
            if exchange.isCancelled {
                state.exchanges[task.taskIdentifier] = nil
                return URLError(exchange.isExpired ? .timedOut : .cancelled)
            }
            exchange.phase = .waiting(continuation)
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
        let cancellation = state.withLock { state in
            state.exchanges[task.taskIdentifier]?.isCancelled = true
            return state.exchanges[task.taskIdentifier]?.cancellation
        }
        if let cancellation { cancelLater([cancellation]) }
    }

    /// Cancels tasks from another thread: a cancellation waits for the queue of the session, on which this method may have been called.
    private func cancelLater(_ cancellations: [Cancellation]) {
        for cancellation in cancellations { cancellation.unblock() }
        let tasks = cancellations.map(\.task)
        DispatchQueue.global().async { for task in tasks { task.cancel() } }
    }

    /// Notes that the session pauses because a reader takes no bytes, or that it continues.
    private func setPaused(_ isPaused: Bool, _ task: URLSessionTask) {
        #if !canImport(FoundationNetworking)
            if isPaused { task.suspend() } else { task.resume() }
        #endif
        let check = state.withLock { state -> ContinuousClock.Instant? in
            guard let exchange = state.exchanges[task.taskIdentifier] else { return nil }
            exchange.idleDeadline = nil
            exchange.isPaused = isPaused
            guard !isPaused else { return nil }
            exchange.noteActivity()
            return state.noteExpiry(exchange.idleDeadline)
        }
        if let check { scheduleCheck(at: check) }
    }

    /// One timer serves all tasks of the session. It is set to the earliest deadline; as most tasks end long before their deadlines, it
    /// fires seldom.
    private func scheduleCheck(at instant: ContinuousClock.Instant) {
        // A Double: on a watch, the nanoseconds of three seconds exceed an Int. A timer that fires early is set again.
        let delay = min(max(0, ContinuousClock.now.duration(to: instant) / .seconds(1)), 365 * 86_400)
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [weak self] in
            self?.checkDeadlines(at: instant)
        }
    }

    private func checkDeadlines(at instant: ContinuousClock.Instant) {
        let (next, expired) = state.withLock { state -> (ContinuousClock.Instant?, [Cancellation]) in
            // An earlier check has been scheduled since.
            guard state.nextCheck == instant else { return (nil, []) }
            let now = ContinuousClock.now
            var expired: [Cancellation] = []
            state.nextCheck = nil
            for exchange in state.exchanges.values where !exchange.isCancelled {
                guard let expiry = exchange.expiry else { continue }
                if expiry <= now {
                    exchange.isCancelled = true
                    exchange.isExpired = true
                    expired.append(exchange.cancellation)
                } else {
                    state.nextCheck = min(state.nextCheck ?? expiry, expiry)
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
        let receiver = state.withLock { state -> Receiver? in
            // On Linux the head of a 308 is reported twice.
            guard let exchange = state.exchanges[dataTask.taskIdentifier], case .waiting(let caller) = exchange.phase else {
                return nil
            }
            let isStreamed = exchange.idleTimeout != nil
            if isStreamed {
                exchange.noteActivity()
                if head.status.kind == .successful { exchange.deadline = nil }
            }
            let isHeld = !isStreamed && (0...Self.largestHeldBody).contains(length)
            if isHeld {
                // The length is that of the packed body.
                let isPacked = head.headerFields.contains(.contentEncoding)
                exchange.phase = .held(caller, head, length: isPacked ? .max : length)
                return nil
            }
            return receive(dataTask, caller: caller, exchange)
        }
        receiver?.resume(head)
    }

    /// A caller that reads its body as it arrives.
    private struct Receiver {
        let caller: Head
        let inbox: Inbox
        let reader: BodyReader

        func resume(_ head: HTTPResponse) { caller.resume(returning: (head, ResponseBody(next: reader.next))) }
    }

    private func receive(_ task: URLSessionTask, caller: Head, _ exchange: Exchange) -> Receiver {
        let inbox = Inbox(limit: exchange.idleTimeout != nil ? Self.mostStored : .max) { [weak self, weak task] isPaused in
            if let task { self?.setPaused(isPaused, task) }
        }
        // A reader that stops early ends the transfer.
        let reader = BodyReader(inbox) { [weak self, weak task] in if let task { self?.cancel(task) } }
        exchange.phase = .receiving(inbox)
        exchange.inbox = inbox
        return Receiver(caller: caller, inbox: inbox, reader: reader)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let resume = state.withLock { state -> (() -> Void)? in
            guard let exchange = state.exchanges[dataTask.taskIdentifier] else { return nil }
            exchange.noteActivity()
            switch exchange.phase {
            case .held(let caller, let head, let length) where data.count >= length:
                exchange.phase = .delivered
                return { caller.resume(returning: (head, ResponseBody([UInt8](data)))) }
            case .held(let caller, let head, _):
                let receiver = receive(dataTask, caller: caller, exchange)
                return {
                    receiver.inbox.deliver([UInt8](data))
                    receiver.resume(head)
                }
            case .receiving(let inbox): return { inbox.deliver([UInt8](data)) }
            case .created, .waiting, .delivered: return nil
            }
        }
        resume?()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError completion: (any Error)?) {
        let (phase, error, endBody) = state.withLock { state -> (Phase?, (any Error)?, (@Sendable () -> Void)?) in
            guard let exchange = state.exchanges.removeValue(forKey: task.taskIdentifier) else { return (nil, nil, nil) }
            // A deadline that passes at the very end must not turn a whole response into an error.
            // A canceled upload may end with the error of its body first.
            let isCanceled = exchange.isCancelled && completion != nil
            let error: (any Error)? =
                if exchange.isUntrusted, completion != nil {
                    TransportError(.untrusted, message: "the challenge handler refused", wasSent: false, cause: completion)
                } else {
                    isCanceled ? URLError(exchange.isExpired ? .timedOut : .cancelled) : completion
                }
            if case .created = exchange.phase { state.failures[task.taskIdentifier] = error ?? URLError(.cancelled) }
            return (exchange.phase, error, exchange.endBody)
        }
        endBody?()
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
        case .receiving(let inbox): inbox.finish(error.map { TransportError(urlSession: $0, isReceiving: true) })
        case .created, .delivered, nil: break
        }
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        let (progress, length) = state.withLock { state -> ((@Sendable (TransferProgress) -> Void)?, Int64?) in
            let exchange = state.exchanges[task.taskIdentifier]
            exchange?.noteActivity()
            return (exchange?.progress, exchange?.length)
        }
        progress?(TransferProgress(completed: totalBytesSent, total: length))
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

    #if !canImport(FoundationNetworking)
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            // A 401 of HTTP is a response like any other.
            let methods = [NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate]
            guard let challenges, methods.contains(challenge.protectionSpace.authenticationMethod) else {
                return completionHandler(.performDefaultHandling, nil)
            }
            let (disposition, credential) = challenges(challenge)
            if disposition == .cancelAuthenticationChallenge {
                state.withLock { $0.exchanges[task.taskIdentifier]?.isUntrusted = true }
            }
            completionHandler(disposition, credential)
        }
    #endif
}
