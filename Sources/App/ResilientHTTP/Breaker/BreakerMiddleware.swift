import ErrorContract
public import HTTPTypes
import Synchronization

/// Stops sending calls to a failing endpoint, and probes it with single calls until it works again (circuit breaker).
///
/// Failures are 5xx, timeouts and lost connections. All retries of one call count as one failure. A 4xx, including 429, shows
/// that the server works. A 503 is handled by ``GateMiddleware``. Canceled calls and a device without a connection are ignored.
///
/// A circuit belongs to one endpoint. The circuit of the whole host opens only if several endpoints fail, or if connections
/// fail. While a circuit is open, for about a second at a time, calls wait for their turn to be the probe. A call that would
/// wait for longer than 2 s fails with the kind `unavailable`, the code `SERVICE_UNAVAILABLE_LOCALLY` and the remaining time in
/// the error.
public final class BreakerMiddleware: ClientMiddleware {
    /// The rules that determine when a circuit opens.
    public let rules: BreakerRules
    /// The maximum number of endpoints whose failures are counted.
    static let capacity = 1_024

    /// The failures that have not opened a circuit yet, guarded by a mutex. Entries are only created by failures, and removed by successes.
    private struct Counts {
        var endpoints: [GateKey: FailureCount] = [:]
        /// Failed connections, by host.
        var connections: [String: FailureCount] = [:]
        /// The endpoints of a host that failed since an endpoint of it last succeeded.
        var failing: [String: Set<Endpoint>] = [:]
    }

    /// The circuits. A closed circuit of the breaker is an open gate, and an open circuit a closed gate.
    let table: GateTable
    private let counts = Mutex(Counts())
    /// Whether any failure is counted. Usually there is none, and no lock is needed.
    private let hasCounts = Atomic<Bool>(false)

    /// Creates the middleware. All calls of a client share its circuits.
    /// - Parameter rules: The rules that determine when a circuit opens.
    public init(_ rules: BreakerRules = BreakerRules()) {
        self.rules = rules
        table = GateTable(maximumWaiters: rules.maximumWaiters)
    }

    /// Sends a call if its circuits admit it, and records its result. A retry waits until its deadline instead of failing at once.
    /// - Throws: `APIError` of the kind `unavailable` if a circuit is open; errors of the call.
    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        let isRepeat = request.headerFields.contains(.retryAttempt)
        let patience = GateTable.Patience(isRepeat ? context.timeLeft : rules.patience)
        let passes = try await context.admitted(to: table, as: .breaker, patience: patience)
        do {
            let response = try await next(request, body)
            settle(.success, isRepeat: isRepeat, passes, context)
            return response
        } catch {
            let hold = settle(Verdict(error), isRepeat: isRepeat, passes, context)
            guard let hold, var error = error as? APIError else { throw error }
            error.hold = hold
            throw error
        }
    }

    /// The result of a request, as far as it concerns the health of its server.
    private enum Verdict {
        case success, failure, lostConnection, neutral

        init(_ error: any Error) {
            guard let error = error as? APIError, !error.isRefreshFailure else {
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
    /// A failure that opens a circuit closes its gates for a random pause. A failure of a retry counts only if it was a probe, because the
    /// first attempt was counted already.
    /// - Returns: The hold that a failure caused.
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

    /// Removes the failures that a success refutes: those of its endpoint, and the failed connections of its host.
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

    /// - Returns: The circuits that open.
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
                let opens = counts.connections[context.origin, default: FailureCount()].noteFailure(rules, at: now)
                isHostOpened = isHostOpened || opens
                return (isHostOpened, passes.endpoint.isProbe)
            }
            // All counts are removed and begin anew; otherwise a full table would never count a new endpoint.
            if counts.endpoints[key] == nil, counts.endpoints.count >= Self.capacity { counts.endpoints = [:] }
            guard counts.endpoints[key, default: FailureCount()].noteFailure(rules, at: now) || passes.endpoint.isProbe else {
                return (isHostOpened, false)
            }
            if counts.failing[context.origin]?.count ?? 0 < rules.failingEndpoints {
                counts.failing[context.origin, default: []].insert(context.endpoint)
            }
            let failing = counts.failing[context.origin]?.count ?? 0
            return (isHostOpened || failing >= rules.failingEndpoints, true)
        }
    }
}
