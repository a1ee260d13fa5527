import ErrorContract
import FoundationEssentials
public import HTTPTypes
import Synchronization

/// Holds all calls to a host back while it asks to be left alone, and lets them out in slow start afterwards.
///
/// A 503 closes the gate of the host, a 429 that of the endpoint: for the time that the server names and up to a half more, or, if it
/// names none, for 1 to 8 s. Refused again before it stood wide open, it closes for the named time and a half to the whole more. While a
/// gate is closed a call fails at once with kind `throttled` and the time in the error, without a request. While it opens, a call
/// waits for the answers to those that are out, for a second at most. This is what holds a brown-out: a retry budget does nothing for a
/// phone that sends one request in ten seconds.
public final class GateMiddleware: ClientMiddleware {
    /// The longest time that a 429 closes an endpoint's gate: what it refused may be one account or one address, and the next
    /// request may be about another.
    public static let longestEndpointClosure: Duration = .seconds(60)
    /// The longest time that a call waits at a gate that is opening.
    public static let longestWaitInLine: Duration = .seconds(1)
    /// The number of gates that are remembered.
    static let capacity = 1_024

    /// What a gate stands in front of.
    enum Key: Hashable {
        case host(String)
        case endpoint(String, Endpoint)
    }

    struct State {
        var gates: [Key: GateState] = [:]
        var line = GateLine<Key>()
    }

    let state = Mutex(State())

    /// Creates the middleware; its gates are shared by all calls of the client.
    public init() {}

    /// How many gates are remembered; those that stand wide open are not.
    public var count: Int { state.withLock(\.gates.count) }
    /// How many calls wait at gates that are opening.
    public var waiting: Int { state.withLock(\.line.count) }

    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        // Most of the time there is no gate at all, neither before nor after.
        let probed = hasGates ? try await admit(keys(of: context), context: context) : []
        do {
            let answer = try await next(request, body)
            if hasGates { settle(keys(of: context)) { gate, _ in gate.noteSuccess() } }
            return answer
        } catch {
            settle(keys(of: context), after: error as? APIError, probed: probed, context: context)
            throw error
        }
    }

    private var hasGates: Bool { state.withLock { !$0.gates.isEmpty } }

    private func keys(of context: CallContext) -> [Key] {
        [.host(context.origin), .endpoint(context.origin, context.endpoint)]
    }

    private func settle(_ keys: [Key], after error: APIError?, probed: [Key], context: CallContext) {
        let isHost = error?.status == 503
        let isEndpoint = error?.status == 429 && error?.retry != .never
        guard let error, isHost || isEndpoint else {
            // An answer of any other kind says that the server works; no answer says nothing.
            let isAnswered = error?.status.map { $0 < 500 } ?? false
            return settle(keys) { gate, _ in isAnswered ? gate.noteSuccess() : gate.noteNeutral() }
        }
        let now = context.now
        let chance = context.surroundings.chance()
        settle(keys, opening: true) { gate, key in
            let delay: Duration?
            switch key {
            case .host where isHost: delay = error.retryAfter
            case .endpoint where isEndpoint: delay = error.retryAfter.map { min($0, Self.longestEndpointClosure) }
            default: return gate.noteNeutral()
            }
            let opening = gate.noteRefusal(delay: delay, at: now, chance: chance)
            context.record.closure = GateClosure(opening: opening, isProbe: probed.contains(key))
        }
    }

    private func settle(_ keys: [Key], opening isNew: Bool = false, _ change: (inout GateState, Key) -> Void) {
        let woken = state.withLock { state in
            for key in keys where isNew || state.gates[key] != nil {
                guard state.gates[key] != nil || state.gates.count < Self.capacity else { continue }
                var gate = state.gates[key] ?? GateState()
                change(&gate, key)
                state.gates[key] = gate.isWideOpen ? nil : gate
            }
            return state.line.count == 0 ? [] : keys.flatMap { state.line.wakeAll(at: $0) }
        }
        for wake in woken { wake.resume() }
    }
}

/// What a refusal that a call met did to a gate.
struct GateClosure: Hashable, Sendable {
    /// When the gate opens, on the clock of the call's surroundings.
    var opening: Duration
    /// Whether the request had been let out by a gate that was opening.
    var isProbe: Bool
}

extension APIError {
    /// The error for a call that the client itself holds back.
    init(heldBackFor wait: Duration, context: CallContext) {
        self.init(
            kind: .throttled,
            code: .throttled,
            retry: .afterDelay,
            recovery: .wait,
            context: context.name,
            attempts: context.record.attempts
        )
        retryAfter = wait
        retryAt = context.surroundings.wallClock().addingTimeInterval(Double(wait.wholeSecondsRoundedUp))
    }
}
