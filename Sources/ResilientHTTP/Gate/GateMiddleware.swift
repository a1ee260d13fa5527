import ErrorContract
import FoundationEssentials
public import HTTPTypes
import Synchronization

/// Holds all calls to a host back while it asks to be left alone, and lets them out in slow start afterwards.
///
/// A 503 closes the gate of the host, a 429 that of the endpoint: for the time that the server names and up to a half more, or, if it
/// names none, for 1 to 8 s. While a gate is closed a call fails at once with kind `throttled` and the time in the error, without a
/// request. This is what holds a brown-out: a retry budget does nothing for a phone that sends one request in ten seconds.
public final class GateMiddleware: ClientMiddleware {
    /// The longest time that a 429 closes an endpoint's gate: what it refused may be one account or one address, and the next
    /// request may be about another.
    public static let longestEndpointClosure: Duration = .seconds(60)
    /// The number of gates that are remembered.
    static let capacity = 1_024

    /// What a gate stands in front of.
    private enum Key: Hashable {
        case host(String)
        case endpoint(String, Endpoint)
    }

    private let gates = Mutex<[Key: GateState]>([:])

    /// Creates the middleware; its gates are shared by all calls of the client.
    public init() {}

    /// How many gates are remembered; those that stand wide open are not.
    public var count: Int { gates.withLock(\.count) }

    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        // Most of the time there is no gate at all, neither before nor after.
        if hasGates { try admit(keys(of: context), context: context) }
        do {
            let answer = try await next(request, body)
            if hasGates { settle(keys(of: context)) { gate, _ in gate.noteSuccess() } }
            return answer
        } catch {
            settle(keys(of: context), after: error as? APIError, context: context)
            throw error
        }
    }

    private var hasGates: Bool { gates.withLock { !$0.isEmpty } }

    private func keys(of context: CallContext) -> [Key] {
        [.host(context.origin), .endpoint(context.origin, context.endpoint)]
    }

    private func admit(_ keys: [Key], context: CallContext) throws(APIError) {
        let now = context.now
        let wait = gates.withLock { gates -> Duration? in
            var changed: [(Key, GateState)] = []
            for key in keys {
                guard var gate = gates[key] else { continue }
                switch gate.admit(at: now) {
                case .admitted: changed.append((key, gate))
                case .closed(let wait): return wait
                case .opening: return .seconds(1)
                }
            }
            for (key, gate) in changed { gates[key] = gate }
            return nil
        }
        guard let wait else { return }
        context.record.note(.refusedLocally(.gate, retryAfter: wait))
        throw APIError(heldBackFor: wait, context: context)
    }

    private func settle(_ keys: [Key], after error: APIError?, context: CallContext) {
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
            switch key {
            case .host where isHost: gate.noteRefusal(delay: error.retryAfter, at: now, chance: chance)
            case .endpoint where isEndpoint:
                let delay = error.retryAfter.map { min($0, Self.longestEndpointClosure) }
                gate.noteRefusal(delay: delay, at: now, chance: chance)
            default: gate.noteNeutral()
            }
        }
    }

    private func settle(_ keys: [Key], opening isNew: Bool = false, _ change: (inout GateState, Key) -> Void) {
        gates.withLock { gates in
            for key in keys where isNew || gates[key] != nil {
                guard gates[key] != nil || gates.count < Self.capacity else { continue }
                var gate = gates[key] ?? GateState()
                change(&gate, key)
                gates[key] = gate.isWideOpen ? nil : gate
            }
        }
    }
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
