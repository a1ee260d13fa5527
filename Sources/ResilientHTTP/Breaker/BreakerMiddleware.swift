import ErrorContract
public import HTTPTypes
import Synchronization

/// Stops calling a host that fails, for a while, and tries it with one request before all come back.
///
/// Failures are 5xx, time-outs and lost connections. 4xx, 429 among them, show a server that works; a 503 that says when to come back,
/// cancelled calls and a device without a connection show nothing, and free the place of a probe. While the circuit is open a call fails at once with kind
/// `throttled` and the time in the error.
public final class BreakerMiddleware: ClientMiddleware {
    /// When a circuit opens.
    public let rules: BreakerRules
    /// The number of hosts that are remembered.
    static let capacity = 256
    private let circuits = Mutex<[String: BreakerState]>([:])

    /// Creates the middleware; its circuits, one for a host, are shared by all calls of the client.
    public init(_ rules: BreakerRules = BreakerRules()) {
        self.rules = rules
    }

    public func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        let host = context.origin
        let isProbe = try admit(host, context: context)
        do {
            let answer = try await next(request, body)
            settle(host, .success, isProbe: isProbe, at: context.now)
            return answer
        } catch {
            settle(host, Verdict(error), isProbe: isProbe, at: context.now)
            throw error
        }
    }

    private func admit(_ host: String, context: CallContext) throws(APIError) -> Bool {
        let answer = circuits.withLock { $0[host]?.admit(at: context.now) ?? .admitted }
        switch answer {
        case .admitted: return false
        case .probe: return true
        case .open(let left):
            let wait = max(left, .seconds(1))
            context.record.note(.refusedLocally(.circuit, retryAfter: wait))
            throw APIError(heldBackFor: wait, context: context)
        }
    }

    /// What the end of a call says about the server.
    private enum Verdict {
        case success, failure, neutral

        init(_ error: any Error) {
            guard let error = error as? APIError else {
                self = .neutral
                return
            }
            switch error.kind {
            // A server that says when to come back works; the gate holds everybody back until then.
            case .server: self = error.status == 408 || error.status == 503 && error.retryAfter != nil ? .neutral : .failure
            case .timeout, .network, .unknownOutcome: self = .failure
            case .cancelled, .noInternet, .throttled, .invalidRequest: self = .neutral
            default: self = error.status == nil ? .neutral : .success
            }
        }
    }

    private func settle(_ host: String, _ verdict: Verdict, isProbe: Bool, at now: Duration) {
        circuits.withLock { circuits in
            guard circuits[host] != nil || circuits.count < Self.capacity else { return }
            switch verdict {
            case .success: circuits[host, default: BreakerState(rules: rules)].noteSuccess(isProbe: isProbe, at: now)
            case .failure: circuits[host, default: BreakerState(rules: rules)].noteFailure(isProbe: isProbe, at: now)
            case .neutral: circuits[host]?.noteNeutral(isProbe: isProbe, at: now)
            }
        }
    }
}
