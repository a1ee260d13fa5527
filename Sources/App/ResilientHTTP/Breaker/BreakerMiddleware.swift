import ErrorContract
public import HTTPTypes
import Synchronization

/// A circuit breaker: stops calls to a failing endpoint. The breaker then sends single calls as probes, until the endpoint works again.
///
/// Timeouts, lost connections, and 5xx responses other than 503 count as failures. The breaker doesn't count a failed retry, unless the
/// retry was a probe. A 4xx response other than 408, such as 429, shows that the server works, so it counts as a success. The breaker
/// ignores 408, 503, canceled calls, and calls of a device without a connection. ``GateMiddleware`` handles 503.
///
/// Each endpoint and each host has its own circuit. Calls pass while the circuit is closed, and wait while it is open. The circuit of a
/// host opens only if several of its endpoints fail, or if connections to the host fail. An open circuit stays open for about a second
/// before each probe. Meanwhile, calls wait. Then the first waiting call becomes the probe. A call that would wait for longer than 2 s
/// fails with the kind `unavailable` and the code `SERVICE_UNAVAILABLE_LOCALLY`. The error contains the remaining time.
///
/// ```swift
/// let rules = BreakerRules(failuresInARow: 3, pause: .seconds(5))
/// let middleware = ClientPipeline.standard(breaker: BreakerMiddleware(rules))
/// ```
public final class BreakerMiddleware: ClientMiddleware {
    /// The rules that determine when a circuit opens.
    public let rules: BreakerRules
    /// The maximum number of endpoints whose failures the breaker counts.
    static let capacity = 1_024

    /// The failures that the breaker counts, guarded by a mutex. A failure creates an entry for its endpoint. A success removes the entry
    /// of its endpoint if the entry has no failure of the last 30 s.
    private struct Counts {
        var endpoints: [GateKey: FailureCount] = [:]
        /// Failed connections since the last success, by host. A success removes the entry of its host.
        var connections: [String: FailureCount] = [:]
        /// The failing endpoints of each host. If a call to any endpoint of a host succeeds, the breaker removes all entries of this host.
        var failing: [String: Set<Endpoint>] = [:]
    }

    /// The circuits, each represented by a gate. The words have opposite meanings: a closed gate stops calls, and a closed circuit lets
    /// calls pass. Therefore, the gate is closed while the circuit is open.
    let table: GateTable
    private let counts = Mutex(Counts())
    /// Whether the breaker stores any failure. Usually it stores none, and a success then takes no lock.
    private let hasCounts = Atomic<Bool>(false)

    /// Creates the middleware. All calls of a client share the circuits of the middleware.
    /// - Parameter rules: The rules that determine when a circuit opens.
    public init(_ rules: BreakerRules = BreakerRules()) {
        self.rules = rules
        table = GateTable(maximumWaiters: rules.maximumWaiters)
    }

    /// The number of hosts whose failures the breaker counts; at most ``GateTable/hosts``.
    var countedHosts: Int { counts.withLock { max($0.connections.count, $0.failing.count) } }

    /// Sends a call when its circuits admit the call, and records the result. If a circuit is open, a retry waits until the call's
    /// deadline.
    /// - Parameters:
    ///   - request: The request without its body. The header `X-Retry-Attempt` marks a retry.
    ///   - body: The body, if there is one.
    ///   - context: The call, whose origin and endpoint determine its circuits.
    ///   - next: Passes the request to the next layer.
    /// - Returns: The response of `next`.
    /// - Throws: `APIError` of the kind `unavailable` if an open circuit refuses the call. Otherwise, the error of `next`.
    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        var passes = GateTable.Passes()
        // Usually all circuits are closed. The call then waits for nothing, and needs no asynchronous call.
        if table.isNarrow {
            let patience = GateTable.Patience(request.isRetry ? context.timeLeft : rules.patience)
            passes = try await context.admitted(to: table, as: .breaker, patience: patience)
        }
        do {
            let response = try await next(request, body)
            settle(.success, isRepeat: false, passes, context)
            return response
        } catch {
            let isRepeat = request.isRetry
            let hold = settle(Verdict(error), isRepeat: isRepeat, passes, context)
            guard let hold, var error = error as? APIError else { throw error }
            error.hold = hold
            throw error
        }
    }

    /// The meaning of a request's result for the health of the server.
    private enum Verdict {
        case success, failure, lostConnection, neutral

        /// Classifies the error of a call. Errors of a session refresh, of another origin after a redirect and of the client itself don't
        /// show whether the server works, so they are neutral.
        init(_ error: any Error) {
            guard let error = error as? APIError, error.isAboutEndpoint else {
                self = .neutral
                return
            }
            switch error.kind {
            case .server: self = error.status == 408 || error.status == 503 ? .neutral : .failure
            case .timeout: self = .failure
            case .network: self = .lostConnection
            case .unknownOutcome:
                self = (error.underlying as? TransportError)?.code == .timeout ? .failure : .lostConnection
            case .cancelled, .noInternet, .throttled, .unavailable, .invalidRequest: self = .neutral
            default: self = error.status == nil ? .neutral : .success
            }
        }
    }

    /// Records the result of a request in its circuits.
    ///
    /// A failure that opens a circuit keeps the circuit open for a random pause. The failure of a retry counts only if the retry was a
    /// probe, because the breaker has already counted the first attempt.
    /// - Returns: The breaker's pause after the failure; `nil` if no circuit opened.
    @discardableResult
    private func settle(_ verdict: Verdict, isRepeat: Bool, _ passes: GateTable.Passes, _ context: CallContext) -> LocalHold? {
        let isProbe = passes.host.isProbe || passes.endpoint.isProbe
        switch verdict {
        case .neutral:
            table.update(context) { $0.noteNeutral(passes[$1]) }
            return nil
        case .success:
            if hasCounts.load(ordering: .acquiring) { noteSuccess(context, at: context.now) }
            table.update(context) { $0.noteSuccess(passes[$1], at: context.now) }
            return nil
        case .failure, .lostConnection:
            let now = context.now
            let opened = noteFailure(verdict, counts: !isRepeat || isProbe, passes, context, at: now)
            let pause = rules.pause(chance: context.environment.chance())
            table.update(context, creating: opened.host ? .host : opened.endpoint ? .endpoint : nil) { gate, scope in
                if scope == .host ? opened.host : opened.endpoint {
                    gate.close(until: now + pause)
                } else {
                    gate.noteNeutral(passes[scope])
                }
            }
            return opened.host || opened.endpoint ? LocalHold(.breaker, wait: pause, isProbe: isProbe) : nil
        }
    }

    /// Records a success: removes the failed connections and the failing endpoints of the host, and ends the series of failures of the
    /// endpoint.
    private func noteSuccess(_ context: CallContext, at now: Duration) {
        counts.withLock { counts in
            defer {
                let isEmpty = counts.endpoints.isEmpty && counts.connections.isEmpty && counts.failing.isEmpty
                hasCounts.store(!isEmpty, ordering: .releasing)
            }
            let key = GateKey.endpoint(context.origin, context.endpoint)
            counts.connections[context.origin] = nil
            counts.failing[context.origin] = nil
            counts.endpoints[key]?.noteSuccess(at: now)
            if counts.endpoints[key]?.isRemovable == true { counts.endpoints[key] = nil }
        }
    }

    /// Counts a failure, unless `counts` is `false`.
    /// - Returns: Whether the failure opens the circuit of the host, and whether it opens the circuit of the endpoint.
    private func noteFailure(
        _ verdict: Verdict,
        counts isCounted: Bool,
        _ passes: GateTable.Passes,
        _ context: CallContext,
        at now: Duration
    ) -> (host: Bool, endpoint: Bool) {
        guard isCounted else { return (false, false) }
        return counts.withLock { counts in
            hasCounts.store(true, ordering: .releasing)
            let key = GateKey.endpoint(context.origin, context.endpoint)
            var isHostOpened = passes.host.isProbe
            if verdict == .lostConnection {
                counts.connections.makeRoom(for: context.origin, maximum: GateTable.hosts)
                let opens = counts.connections[context.origin, default: FailureCount()].noteFailure(rules, at: now)
                isHostOpened = isHostOpened || opens
                return (isHostOpened, passes.endpoint.isProbe)
            }
            counts.endpoints.makeRoom(for: key, maximum: Self.capacity)
            guard counts.endpoints[key, default: FailureCount()].noteFailure(rules, at: now) || passes.endpoint.isProbe else {
                return (isHostOpened, false)
            }
            counts.failing.makeRoom(for: context.origin, maximum: GateTable.hosts)
            if counts.failing[context.origin]?.count ?? 0 < rules.failingEndpoints {
                counts.failing[context.origin, default: []].insert(context.endpoint)
            }
            let failing = counts.failing[context.origin]?.count ?? 0
            return (isHostOpened || failing >= rules.failingEndpoints, true)
        }
    }
}

extension Dictionary {
    /// Removes all entries if the key is new and the maximum number of entries is reached. Otherwise, the breaker would never count the
    /// failures of a new endpoint or host.
    fileprivate mutating func makeRoom(for key: Key, maximum: Int) {
        if self[key] == nil, count >= maximum { removeAll() }
    }
}
