import Foundation
import HTTPTypes
import ResilientHTTP
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The exchanges in flight of one `URLSession`, by task. An exchange is one request with its response. This object is the delegate of the
/// session.
///
/// An exchange passes through these phases:
///
/// 1. `created`: The task exists, and no caller waits.
/// 2. `waiting`: A caller waits for the head.
/// 3. `held`: The head of a small response has arrived, and the caller still waits for the body. Other responses skip this phase.
/// 4. `receiving` or `delivered`: The caller reads the body as it arrives, or has received the body together with the head.
///
/// This object resumes each caller's continuation exactly once: when the head arrives, when the task ends, or immediately if the task was
/// canceled before. The thread that changes the phase under the lock also resumes the continuation, after it has released the lock.
///
/// Three threads use this object: the caller's thread, the queue of the session, and the timer of deadlines. One mutex per session guards
/// all state. No thread resumes a continuation under the lock. Under the lock, a thread calls only one function of the session: the
/// completion handler for the decision about a redirect.
final class URLSessionExchanges: NSObject, URLSessionDataDelegate {
    typealias Head = CheckedContinuation<(HTTPResponse, ResponseBody), any Error>

    /// One exchange. Threads access it only under the lock.
    private final class Exchange {
        /// The task of the session.
        let task: URLSessionTask
        /// The deadline of the exchange; `nil` after the head of a streamed success has arrived.
        var deadline: ContinuousClock.Instant?
        /// The maximum time without a byte; `nil` if the response is not streamed.
        let idleTimeout: Duration?
        /// The time at which the exchange ends if no byte is sent or received before; `nil` while the exchange is paused, and without an
        /// idle timeout.
        var idleDeadline: ContinuousClock.Instant?
        /// Whether the exchange is paused because the reader accepts no bytes. The session can still deliver bytes that have already
        /// arrived. On Linux, the session itself is never paused.
        var isPaused = false
        /// Receives the progress of the request's body.
        let progress: (@Sendable (TransferProgress) -> Void)?
        /// The number of bytes of the request's body; `nil` if the length is unknown, or if the body has no progress closure.
        let length: Int64?
        /// Stops sending a body that is a stream.
        let endBody: (@Sendable () -> Void)?
        /// The body of the response.
        var inbox: Inbox?
        /// The current phase of the exchange.
        var phase = Phase.created
        /// Whether the exchange must end, because its caller or reader has canceled it, or because its deadline has passed.
        var isCancelled = false
        /// Whether the deadline of the exchange has passed.
        var isExpired = false
        /// Whether the app's handler for authentication challenges refused the server.
        var isUntrusted = false

        /// The earlier of `deadline` and `idleDeadline`; `nil` if there is neither.
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

        /// Records that a byte was sent or received.
        func noteActivity() {
            if let idleTimeout, !isPaused { idleDeadline = .now + idleTimeout }
        }

        /// The objects of the exchange that a cancellation needs after it has released the lock.
        var cancellation: Cancellation { Cancellation(task: task, endBody: endBody, inbox: inbox) }
    }

    /// The objects of an exchange that a cancellation needs.
    private struct Cancellation: Sendable {
        let task: URLSessionTask
        let endBody: (@Sendable () -> Void)?
        let inbox: Inbox?

        /// Unblocks the threads that wait for the body of the request or for a reader. A cancellation can wait for the queue on which such
        /// a thread runs. Therefore, call this method before the cancellation.
        func unblock() {
            endBody?()
            inbox?.close()
        }
    }

    /// The phases of an exchange, in their order.
    private enum Phase {
        /// No caller waits yet.
        case created
        /// The head has not been received.
        case waiting(Head)
        /// The head of a small response has been received. The caller gets the head together with the first bytes of the body.
        case held(Head, HTTPResponse, length: Int)
        /// The caller has received the head and reads the body.
        case receiving(Inbox)
        /// The caller has received the whole response.
        case delivered
    }

    /// The exchanges by the identifier of their task, and the timer.
    private struct State {
        var exchanges: [Int: Exchange] = [:]
        /// The errors of tasks that were canceled and ended before their callers waited. ``begin(_:continuation:)`` removes them.
        var failures: [Int: any Error] = [:]
        /// The time of the next check of deadlines; `nil` if no check is scheduled.
        var nextCheck: ContinuousClock.Instant?

        /// Records the time at which an exchange expires.
        /// - Returns: The time for which the caller must schedule a check; `nil` if no new check is necessary.
        mutating func noteExpiry(_ expiry: ContinuousClock.Instant?) -> ContinuousClock.Instant? {
            guard let expiry, nextCheck.map({ expiry < $0 }) ?? true else { return nil }
            nextCheck = expiry
            return expiry
        }
    }

    /// The maximum size, in bytes, of a body that the caller can get together with the head: 64 KiB. If the whole body arrives at once, the
    /// caller of a small response changes the thread once instead of twice.
    static let largestHeldBody = 65_536
    /// The number of unread bytes of a streamed body at which the exchange pauses: 256 KiB.
    static let mostStored = 262_144
    private let state = Mutex(State())
    #if !canImport(FoundationNetworking)
        private let challenges: URLSessionTransport.ChallengeHandler?

        /// Creates a delegate without exchanges.
        /// - Parameter challenges: Decides about authentication challenges. With `nil`, the system decides.
        init(challenges: URLSessionTransport.ChallengeHandler? = nil) {
            self.challenges = challenges
        }
    #endif

    /// Registers a task before it is started. At the deadline, this object cancels the task, even while its body arrives. The session's own
    /// `timeoutInterval` is not sufficient, because it limits only the time between two bytes.
    /// - Parameters:
    ///   - task: The task.
    ///   - deadline: The deadline of the exchange. If the response is a streamed success, the deadline applies only to its head.
    ///   - idleTimeout: The maximum time without a byte; `nil` if the response is not streamed.
    ///   - body: The body of the request.
    ///   - endBody: Stops sending a body that is a stream. Any thread can call the closure, even several times.
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

    /// Stores the continuation of a caller. The response of the task later resumes this continuation.
    ///
    /// - Parameters:
    ///   - task: A task that was added.
    ///   - continuation: The continuation of the caller.
    /// - Returns: Whether the caller must start the task. With `false`, the task has been canceled, and the continuation has been resumed.
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

    /// Cancels a task. Any thread may call the method before, during and after the exchange.
    ///
    /// On Linux, the process crashes if a session gets the decision about a redirect after a cancellation. Therefore, the delegate makes
    /// the decision under the lock, and only if no cancellation is recorded.
    func cancel(_ task: URLSessionTask) {
        let cancellation = state.withLock { state in
            state.exchanges[task.taskIdentifier]?.isCancelled = true
            return state.exchanges[task.taskIdentifier]?.cancellation
        }
        if let cancellation { cancelLater([cancellation]) }
    }

    /// Cancels tasks on another thread. A cancellation waits for the queue of the session, and the caller of this method may be on that
    /// queue.
    private func cancelLater(_ cancellations: [Cancellation]) {
        for cancellation in cancellations { cancellation.unblock() }
        let tasks = cancellations.map(\.task)
        DispatchQueue.global().async { for task in tasks { task.cancel() } }
    }

    /// Pauses or continues an exchange, because its reader accepts no bytes or accepts bytes again. During a pause, the idle timeout
    /// doesn't run. On Linux, the task itself continues.
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

    /// Schedules a check of deadlines.
    ///
    /// One timer serves all tasks of the session. The timer is set to the earliest deadline. A check rarely finds an expired exchange,
    /// because most tasks end long before their deadlines. The timer is a timer of the system, because no Swift task waits here.
    private func scheduleCheck(at instant: ContinuousClock.Instant) {
        // The delay is a Double, because on a watch the nanoseconds of three seconds exceed an Int. A timer that fires early is set again.
        let delay = min(max(0, ContinuousClock.now.duration(to: instant) / .seconds(1)), 365 * 86_400)
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [weak self] in
            self?.checkDeadlines(at: instant)
        }
    }

    /// Cancels the exchanges whose deadline has passed, and schedules the next check.
    /// - Parameter instant: The time for which this check was scheduled. If another check was scheduled for an earlier time since, this
    ///   check does nothing.
    /// - Complexity: O(number of exchanges in flight).
    private func checkDeadlines(at instant: ContinuousClock.Instant) {
        let (next, expired) = state.withLock { state -> (ContinuousClock.Instant?, [Cancellation]) in
            // Another check was scheduled for an earlier time since.
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

    /// Passes the head of a response to its caller. For a streamed success, the deadline no longer applies from now on, and only the idle
    /// timeout applies. If the body is small, the caller gets the head together with the first bytes of the body.
    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        defer { completionHandler(.allow) }
        // On Linux, the session reports interim responses (100, 103) in the same way as the final response.
        if let status = (response as? HTTPURLResponse)?.statusCode, (100..<200).contains(status) { return }
        let head = HTTPResponse(urlResponse: response)
        // A caller that receives only the head must wait again for the body. A small body arrives in the same packet as its head.
        let length = Int(clamping: response.expectedContentLength)
        let receiver = state.withLock { state -> Receiver? in
            // On Linux, the session reports the head of a 308 twice.
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
                // For a compressed body, `length` is the compressed length. The number of decompressed bytes is unknown.
                let isPacked = head.headerFields.contains(.contentEncoding)
                exchange.phase = .held(caller, head, length: isPacked ? .max : length)
                return nil
            }
            return receive(dataTask, caller: caller, exchange)
        }
        receiver?.resume(head)
    }

    /// A caller that reads the body as it arrives.
    private struct Receiver {
        let caller: Head
        let inbox: Inbox
        let reader: BodyReader

        func resume(_ head: HTTPResponse) { caller.resume(returning: (head, ResponseBody(next: reader.next))) }
    }

    /// Changes an exchange to the phase `receiving`. The caller of this method holds the lock, so the method doesn't resume the
    /// continuation.
    /// - Returns: The waiting caller and its reader. After the lock was released, the caller of this method resumes the waiting caller.
    private func receive(_ task: URLSessionTask, caller: Head, _ exchange: Exchange) -> Receiver {
        let inbox = Inbox(limit: exchange.idleTimeout != nil ? Self.mostStored : .max) { [weak self, weak task] isPaused in
            if let task { self?.setPaused(isPaused, task) }
        }
        // If the reader stops early, cancel the transfer.
        let reader = BodyReader(inbox) { [weak self, weak task] in if let task { self?.cancel(task) } }
        exchange.phase = .receiving(inbox)
        exchange.inbox = inbox
        return Receiver(caller: caller, inbox: inbox, reader: reader)
    }

    /// Passes bytes of a body to its reader. If the bytes complete a small response, resumes the caller once, with the head and the body.
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

    /// Ends an exchange: resumes its caller, or ends its body. If the response is complete, a late cancellation or a passed deadline
    /// doesn't turn it into an error.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError completion: (any Error)?) {
        let (phase, error, endBody) = state.withLock { state -> (Phase?, (any Error)?, (@Sendable () -> Void)?) in
            guard let exchange = state.exchanges.removeValue(forKey: task.taskIdentifier) else { return (nil, nil, nil) }
            // If the deadline passes at the very end, a complete response must not become an error. The body of a canceled upload can
            // report its error before the task reports the cancellation.
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
            // On Linux, the session doesn't report the head of a redirect without an address.
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

    /// Reports the progress of the request's body. The exchange then counts as active, so its idle timeout starts again.
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

    /// Stops at each redirect, because the transport itself follows redirects.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // The transport itself follows redirects, by the rules of `Redirection`.
        state.withLock { state in
            if state.exchanges[task.taskIdentifier]?.isCancelled == false { completionHandler(nil) }
        }
    }

    #if !canImport(FoundationNetworking)
        /// Calls the app's handler for the server's certificate or for a client certificate. For other challenges, uses the default
        /// handling, so that a 401 is an ordinary response.
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            // The other authentication methods include the challenge of a 401, which is an ordinary response.
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
