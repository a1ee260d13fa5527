import ErrorContract
import Foundation
public import HTTPTypes
import Synchronization
import Timekeeping

/// Delays calls while a server requests a delay. After the delay, the middleware admits the waiting calls gradually (slow start).
///
/// The middleware has a gate for each host and each endpoint. A 503 closes the gate of the host, and a 429 closes the gate of the endpoint.
/// The gate stays closed for the delay that the server requests, plus a random part. If the server requests no delay, the gate closes for
/// 0.5 to 8 s. If a 503 requests more than a minute, the middleware accepts the delay only if the body and the header contain the same
/// delay. Otherwise, the middleware treats the response like a 503 without a delay.
///
/// While a gate is closed, a call waits if the gate opens within 2 s. Otherwise, the call fails at once without a request. The error
/// contains the remaining time. The kind of the error is `throttled` if a 429 closed the gate, and `unavailable` if a 503 closed the gate.
///
/// If a client sends many requests, it can receive successes and 503 responses from one host at the same time. In this case, the gate of
/// the host limits the rate of requests instead of closing (a paced gate).
///
/// Unlike a ``RetryBudget``, which only ends retries, a gate also delays first attempts. A gate therefore protects an overloaded server
/// even if each client sends few requests, such as one in ten seconds.
///
/// ```swift
/// let gate = GateMiddleware()
/// let notes = APIClient(baseURL: url, transport: transport, middleware: ClientPipeline.standard(gate: gate))
/// ```
public final class GateMiddleware: ClientMiddleware {
    /// The rules that determine how long gates stay closed, and how long calls wait.
    public let rules: GateRules
    let table: GateTable
    /// The number of changes of the network path that the middleware has handled.
    private let networkChanges = Atomic<UInt64>(0)

    /// Creates the middleware. All calls of a client share its gates. If several clients call the same servers, pass one middleware to all
    /// of them, so that a refusal of one client also delays the others.
    /// - Parameter rules: The rules that determine how long gates stay closed, and how long calls wait.
    public init(_ rules: GateRules = GateRules()) {
        self.rules = rules
        table = GateTable(maximumWaiters: rules.maximumWaiters)
    }

    /// The number of gates that delay or limit calls now.
    public var count: Int { table.count }
    /// The number of calls that wait at gates.
    public var waiting: Int { table.waiting }

    /// Sends a call when the gates of its host and endpoint admit the call, and records the result. After a change of the network path,
    /// each closed gate first admits one probe.
    /// - Parameters:
    ///   - request: The request without its body. The header `X-Retry-Attempt` marks a retry, which waits until the call's deadline.
    ///   - body: The body, if there is one.
    ///   - context: The call, whose origin and endpoint determine its gates.
    ///   - next: Passes the request to the next layer.
    /// - Returns: The response of `next`.
    /// - Throws: `APIError` of the kind `throttled` or `unavailable` if a gate refuses the call; its `retryAfter` is the remaining time.
    ///   `CancellationError` if the task is canceled while the call waits. Otherwise, the error of `next`.
    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        if let changes = context.environment.connectivity?.changes,
            networkChanges.exchange(changes, ordering: .relaxed) != changes
        {
            // A host that refused requests on one network path may serve requests on another path.
            table.reopen { _ in true }
        }
        var passes = GateTable.Passes()
        // Usually all gates are open. The call then waits for nothing, and needs no asynchronous call.
        if table.isNarrow {
            passes = try await context.admitted(to: table, as: .gate, patience: patience(request, context))
        }
        do {
            let response = try await next(request, body)
            let now = context.now
            table.update(context, at: now, creating: .host) { $0.noteSuccess(passes[$1], at: now) }
            return response
        } catch {
            throw settle(error, passes, context)
        }
    }

    /// Returns the maximum time that a call waits at its gates.
    private func patience(_ request: HTTPRequest, _ context: CallContext) -> GateTable.Patience {
        // A retry waits until the deadline of its call.
        request.isRetry
            ? GateTable.Patience(context.timeLeft) : GateTable.Patience(rules.patience, paced: rules.pacedPatience)
    }

    /// Records the end of a failed request in the gates of its host and endpoint.
    ///
    /// - Returns: The error. If the failure closed a gate, the error contains the duration of the closure.
    private func settle(_ thrown: any Error, _ passes: GateTable.Passes, _ context: CallContext) -> any Error {
        guard var error = thrown as? APIError, error.isAboutEndpoint else {
            table.update(context) { $0.noteNeutral(passes[$1]) }
            return thrown
        }
        let now = context.now
        let isHost = error.status == 503
        let isEndpoint = error.status == 429 && error.retry != .never
        guard isHost || isEndpoint else {
            // A status below 500 shows that the server works. With another status, or without a response, the state of the server is
            // unknown.
            let hasResponse = error.status.map { $0 < 500 } ?? false
            table.update(context) { hasResponse ? $0.noteSuccess(passes[$1], at: now) : $0.noteNeutral(passes[$1]) }
            return error
        }
        let chance = context.environment.chance()
        table.update(context, creating: isHost ? .host : .endpoint) { gate, scope in
            let pass = passes[scope]
            guard scope == (isHost ? .host : .endpoint) else { return gate.noteNeutral(pass) }
            var opening: Duration?
            if let delay = believed(error, isHost: isHost) {
                // If the body doesn't confirm the delay, `longestClosure` limits the delay including its random extension.
                let isConfirmed = isHost && error.isRetryAfterConfirmed
                let longest = isConfirmed ? nil : max(.zero, rules.longestClosure - delay)
                opening = gate.noteRefusal(
                    pass,
                    delay: delay,
                    first: (isHost ? rules.host : rules.endpoint).bounded(by: longest),
                    again: (isHost ? rules.hostAgain : rules.endpointAgain).bounded(by: longest),
                    mayPace: isHost,
                    at: now,
                    chance: chance
                )
            } else {
                opening = gate.noteRefusal(pass, unnamed: rules.unnamed, at: now, chance: chance)
            }
            error.hold = opening.map { LocalHold(.gate, wait: max(.zero, $0 - now), isProbe: pass.isProbe) }
        }
        return error
    }

    /// Returns the time for which a 503 or 429 closes the gate; `nil` if the response contains no delay that the client can trust. A 429
    /// can apply to only one account or one address, so the method limits its delay to `longestClosure`. A 503 with a delay above
    /// `longestClosure` can come from a proxy in front of a healthy server, so the method ignores this delay unless the body confirms it.
    private func believed(_ error: APIError, isHost: Bool) -> Duration? {
        guard let delay = error.retryAfter, delay > rules.longestClosure else { return error.retryAfter }
        guard isHost else { return rules.longestClosure }
        return error.isRetryAfterConfirmed ? delay : nil
    }
}

extension CallContext {
    /// Waits until the gates in a table admit the call.
    /// - Throws: `APIError` of the kind `throttled` or `unavailable`, with the reason and the length of the delay. `CancellationError` if
    ///   the task is canceled while the call waits.
    func admitted(to table: GateTable, as source: LocalHold.Source, patience: GateTable.Patience) async throws -> GateTable.Passes
    {
        do {
            return try await table.admit(self, patience: patience)
        } catch let refusal as GateTable.Refusal {
            record.note(.refusedLocally(source == .gate ? .gate : .circuit, retryAfter: refusal.wait))
            // A 429 closes the gate of an endpoint, and a 503 closes the gate of a host.
            let isLimit = source == .gate && refusal.scope == .endpoint
            var error = APIError(heldBackFor: refusal.wait, by: source, isLimit: isLimit, environment: environment)
            (error.context, error.attempts) = (name, record.attempts)
            throw error
        }
    }
}

extension APIError {
    /// Whether the error shows something about the endpoint of the call, and not about the refresh endpoint or another origin.
    var isAboutEndpoint: Bool { !isRefreshFailure && !isFromOtherOrigin }

    /// Creates the error for a call that the client itself refused.
    ///
    /// - Parameter isLimit: Whether a rate limit is the reason. With `false`, the reason is a failure.
    init(heldBackFor wait: Duration, by source: LocalHold.Source, isLimit: Bool, environment: ClientEnvironment) {
        self.init(
            kind: isLimit ? .throttled : .unavailable,
            code: isLimit ? .throttled : .serviceUnavailableLocally,
            retry: .afterDelay,
            recovery: .wait,
            attempts: 0
        )
        retryAfter = wait
        retryAt = environment.wallClock().addingTimeInterval(Double(wait.wholeSecondsRoundedUp))
        hold = LocalHold(source, wait: wait)
    }
}

/// The rules that determine how long gates stay closed, and how long calls wait.
///
/// The rules add a random extension to each delay that a server requests. With longer extensions, the server has to refuse fewer requests,
/// and can use more of its capacity for successes. With shorter extensions, clients notice earlier that the server has recovered. The
/// defaults come from a benchmark that compared several extensions, with a server at a fifth of its capacity; see
/// `docs/contributing/benchmarks.md`.
///
/// ```swift
/// var rules = GateRules()
/// rules.patience = .seconds(5)
/// let gate = GateMiddleware(rules)
/// ```
public struct GateRules: Hashable, Sendable {
    /// The random extension of a server's delay, as a fraction of the delay. Because of the extension, clients don't all return at the same
    /// time.
    public struct Stretch: Hashable, Sendable {
        /// The minimum and the maximum extension, as fractions of the delay. The actual extension is a random value in this range.
        public var range: ClosedRange<Double>
        /// The maximum extension as a duration, which limits the extension of long delays.
        public var longest: Duration

        /// Creates an extension.
        /// - Parameters:
        ///   - range: The minimum and the maximum extension, as fractions of the delay. For example, `0...0.5` adds up to a half of the
        ///     delay.
        ///   - longest: The maximum extension as a duration.
        public init(_ range: ClosedRange<Double>, longest: Duration) {
            (self.range, self.longest) = (range, longest)
        }

        /// Returns the same extension with a lower maximum duration; `nil` leaves the maximum unchanged.
        func bounded(by limit: Duration?) -> Stretch {
            limit.map { Stretch(range, longest: min(longest, $0)) } ?? self
        }

        /// Returns a delay with its random extension.
        /// - Parameters:
        ///   - delay: The delay that the server requested.
        ///   - chance: A random number from 0 to 1, which selects the extension within the range.
        func applied(to delay: Duration, chance: Double) -> Duration {
            delay + min(longest, delay * (range.lowerBound + (range.upperBound - range.lowerBound) * chance))
        }
    }

    /// The extension that applies when a 503 closes the gate of a host while this gate is fully open.
    public var host = Stretch(2...3, longest: .seconds(6))
    /// The extension that applies when a 503 closes a host's gate again before the gate was fully open. In this case, the server's earlier
    /// delay was too short.
    public var hostAgain = Stretch(4...4.5, longest: .seconds(9))
    /// The extension that applies when a 429 closes an endpoint's gate.
    public var endpoint = Stretch(0...0.5, longest: .seconds(10))
    /// The extension that applies when a 429 closes an endpoint's gate again before the gate was fully open.
    public var endpointAgain = Stretch(0.5...1, longest: .seconds(10))
    /// The time that a gate stays closed if the server requests no delay. The actual time is random, from 50 % to 100 % of this value.
    public var unnamed = Backoff(base: .seconds(1), cap: .seconds(8))
    /// The maximum time that a gate stays closed. A 503 can close a gate for longer only if its body and its header contain the same delay.
    public var longestClosure: Duration = .seconds(60)
    /// The maximum time that a new call waits at a gate before the call fails. A retry waits until the deadline of its call.
    public var patience: Duration = .seconds(2)
    /// The maximum time that a new call waits at a paced gate, which limits the rate of requests. If the wait would be longer, the call
    /// fails at once.
    public var pacedPatience: Duration = .milliseconds(250)
    /// The maximum number of calls that wait at gates.
    public var maximumWaiters = 1_024

    /// Creates the default rules.
    public init() {}
}
