import ErrorContract
import Foundation
public import HTTPTypes
import Synchronization
import Timekeeping

/// Holds calls back while a server asks for it, and lets them through in slow start afterwards.
///
/// A 503 closes the gate of the host, a 429 that of the endpoint: for the time that the server names and a stretch on top, or, if it names none,
/// for 1 to 8 s. A delay of more than a minute is believed only if the body of the response confirms its header. While a gate is
/// closed, a call waits if the gate opens within 2 s, and otherwise fails at once without a request and with the time in the error: with the kind
/// `throttled` if a 429 closed the gate, with the kind `unavailable` if a 503 did. A busy client is paced instead, when the host refuses some of its requests and serves others.
///
/// The gate holds a brown-out: a retry budget does nothing for a phone that sends one request in ten seconds.
public final class GateMiddleware: ClientMiddleware {
    /// How long gates stay closed, and who waits at them.
    public let rules: GateRules
    let table: GateTable
    /// The changes of the network path that were noticed.
    private let networkChanges = Atomic<UInt64>(0)

    /// Creates the middleware; its gates are shared by all calls of the client.
    public init(_ rules: GateRules = GateRules()) {
        self.rules = rules
        table = GateTable(maximumWaiters: rules.maximumWaiters)
    }

    /// How many gates are stored; those that stand wide open are not counted.
    public var count: Int { table.count }
    /// How many calls wait at gates.
    public var waiting: Int { table.waiting }

    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        if let changes = context.environment.connectivity?.changes,
            networkChanges.exchange(changes, ordering: .relaxed) != changes
        {
            // A host that refused requests on one network path may serve them on another one.
            table.reopen { _ in true }
        }
        let passes = try await context.admitted(to: table, as: .gate, patience: patience(request, context))
        do {
            let response = try await next(request, body)
            let now = context.now
            table.update(context, at: now, creating: .host) { $0.noteSuccess(passes[$1], at: now) }
            return response
        } catch {
            throw settle(error, passes, context)
        }
    }

    private func patience(_ request: HTTPRequest, _ context: CallContext) -> GateTable.Patience {
        // A call that was sent before waits for its retry.
        request.headerFields.contains(.retryAttempt)
            ? GateTable.Patience(context.timeLeft) : GateTable.Patience(rules.patience, paced: rules.pacedPatience)
    }

    /// Notes the end of a failed request.
    /// - Returns: The error, with the hold that it caused.
    private func settle(_ thrown: any Error, _ passes: GateTable.Passes, _ context: CallContext) -> any Error {
        guard var error = thrown as? APIError, !error.isRefreshFailure else {
            table.update(context) { $0.noteNeutral(passes[$1]) }
            return thrown
        }
        let now = context.now
        let isHost = error.status == 503
        let isEndpoint = error.status == 429 && error.retry != .never
        guard isHost || isEndpoint else {
            // A response of any other kind shows that the server works; a lost one shows nothing.
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
                // The bound of a delay that is not confirmed includes the stretch.
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

    /// The delay that a refusal names, as far as it is believed: what a 429 refused may be one account or one address, and a long delay without
    /// a body that confirms it may come from a proxy in front of a healthy server.
    private func believed(_ error: APIError, isHost: Bool) -> Duration? {
        guard let delay = error.retryAfter, delay > rules.longestClosure else { return error.retryAfter }
        guard isHost else { return rules.longestClosure }
        return error.isRetryAfterConfirmed ? delay : nil
    }
}

extension CallContext {
    /// Waits until the gates of a table let the call through.
    /// - Throws: ``APIError`` of the kind `throttled` or `unavailable`, with the hold; `CancellationError` if the task is canceled while it
    ///   waits.
    func admitted(to table: GateTable, as source: LocalHold.Source, patience: GateTable.Patience) async throws -> GateTable.Passes
    {
        do {
            return try await table.admit(self, patience: patience)
        } catch let refusal as GateTable.Refusal {
            record.note(.refusedLocally(source == .gate ? .gate : .circuit, retryAfter: refusal.wait))
            // A 429 closes gates of endpoints, and a 503 those of hosts.
            let isLimit = source == .gate && refusal.scope == .endpoint
            throw APIError(heldBackFor: refusal.wait, by: source, isLimit: isLimit, context: self)
        }
    }
}

extension APIError {
    /// The error for a call that the client itself holds back.
    /// - Parameter isLimit: Whether a rate limit of the server is the reason, rather than a failure.
    init(heldBackFor wait: Duration, by source: LocalHold.Source, isLimit: Bool, context: CallContext) {
        self.init(
            kind: isLimit ? .throttled : .unavailable,
            code: isLimit ? .throttled : .serviceUnavailableLocally,
            retry: .afterDelay,
            recovery: .wait,
            context: context.name,
            attempts: context.record.attempts
        )
        retryAfter = wait
        retryAt = context.environment.wallClock().addingTimeInterval(Double(wait.wholeSecondsRoundedUp))
        hold = LocalHold(source, wait: wait)
    }
}

/// How long gates stay closed, and who waits at them.
///
/// The defaults follow from a search over policies for a server at a fifth of its capacity, see
/// `docs/contributing/benchmarks.md`: longer stretches let the server serve more of what it can, shorter ones notice sooner that it has recovered.
public struct GateRules: Hashable, Sendable {
    /// By how much a delay is stretched that a server names, as a part of the delay, so that a fleet does not come back at once.
    public struct Stretch: Hashable, Sendable {
        /// The smallest and the largest stretch; in between it is random.
        public var range: ClosedRange<Double>
        /// The longest stretch in time: long delays are stretched by less.
        public var longest: Duration

        /// Creates a stretch.
        public init(_ range: ClosedRange<Double>, longest: Duration) {
            (self.range, self.longest) = (range, longest)
        }

        func bounded(by limit: Duration?) -> Stretch {
            limit.map { Stretch(range, longest: min(longest, $0)) } ?? self
        }

        func applied(to delay: Duration, chance: Double) -> Duration {
            delay + min(longest, delay * (range.lowerBound + (range.upperBound - range.lowerBound) * chance))
        }
    }

    /// The stretch when a 503 closes a host's gate that stood open.
    public var host = Stretch(2...3, longest: .seconds(6))
    /// The stretch when a 503 closes a host's gate again before it stood wide open: the server named too little.
    public var hostAgain = Stretch(4...4.5, longest: .seconds(9))
    /// The stretch when a 429 closes an endpoint's gate.
    public var endpoint = Stretch(0...0.5, longest: .seconds(10))
    /// The stretch when a 429 closes an endpoint's gate again before it stood wide open.
    public var endpointAgain = Stretch(0.5...1, longest: .seconds(10))
    /// How long a gate stays closed when the server names no delay; between half of it and the whole, at random.
    public var unnamed = Backoff(base: .seconds(1), cap: .seconds(8))
    /// The longest closure by a 429, and by a 503 unless its body and its header name the same longer time.
    public var longestClosure: Duration = .seconds(60)
    /// How long a new call waits at a gate before it fails. A call that was sent before waits until its deadline.
    public var patience: Duration = .seconds(2)
    /// How long a new call waits at a gate that is paced before it fails.
    public var pacedPatience: Duration = .milliseconds(250)
    /// The largest number of calls that wait at gates.
    public var maximumWaiters = 1_024

    /// Creates the default rules.
    public init() {}
}
