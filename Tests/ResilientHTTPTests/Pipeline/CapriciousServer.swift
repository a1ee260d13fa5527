import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization

@testable import ResilientHTTP

/// A server in memory that randomly delays, changes tokens, refuses, fails and loses responses, until ``behave()`` is called.
final class CapriciousServer: HTTPTransport {
    private struct State {
        var generator: SplitMix64
        var token = 1
        var inFlight = 0
        var cancelled = 0
        var isGood = false

        mutating func mood(for request: HTTPRequest) -> Mood {
            guard request.headerFields[.authorization] == "Bearer at\(token)" else { return .refuses(401) }
            guard !isGood else { return .good }
            return switch Int.random(in: 0..<100, using: &generator) {
            case 0..<3: .refuses(503)
            case 3..<6: .refuses(429)
            case 6..<10: .refuses(500)
            case 10..<20: .loses
            case 20..<40: .slowBody
            default: .good
            }
        }
    }

    private enum Mood {
        case good, slowBody, refuses(Int), loses
    }

    private let clock: ManualClock
    private let state: Mutex<State>

    init(_ clock: ManualClock, seed: UInt64) {
        self.clock = clock
        state = Mutex(State(generator: SplitMix64(seed: seed)))
    }

    /// The number of requests in flight.
    var inFlight: Int { state.withLock(\.inFlight) }
    /// The number of requests that were canceled in flight.
    var cancelled: Int { state.withLock(\.cancelled) }

    /// Responds to every later request at once and successfully.
    func behave() { state.withLock { $0.isGood = true } }

    /// Returns new credentials for old ones after a while, or loses the request.
    func refresh(_ token: String) async throws -> Credentials {
        let (pause, isLost) = state.withLock { state in
            state.isGood
                ? (0, false)
                : (Int.random(in: 1...4_000, using: &state.generator), Int.random(in: 0..<4, using: &state.generator) == 0)
        }
        if pause > 0 { try await clock.sleep(for: .milliseconds(pause)) }
        if isLost { throw TransportError(.connectionLost, message: "", wasSent: true) }
        return state.withLock { .number($0.token) }
    }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let (pause, mood) = state.withLock { state -> (Int, Mood) in
            state.inFlight += 1
            guard !state.isGood else { return (0, state.mood(for: request)) }
            if Int.random(in: 0..<20, using: &state.generator) == 0 { state.token += 1 }
            return (Int.random(in: 0...3_000, using: &state.generator), state.mood(for: request))
        }
        defer { state.withLock { $0.inFlight -= 1 } }
        do {
            if pause > 0 { try await clock.sleep(for: min(.milliseconds(pause), timeout)) }
        } catch {
            state.withLock { $0.cancelled += 1 }
            throw TransportError(.cancelled, message: "", wasSent: true)
        }
        switch mood {
        case .good: return (HTTPResponse(status: .ok), ResponseBody(Array("1".utf8)))
        case .slowBody: return (HTTPResponse(status: .ok), slowBody())
        case .refuses(401):
            return (HTTPResponse(status: .unauthorized, headerFields: [.errorCode: "AUTH_TOKEN_EXPIRED"]), ResponseBody())
        case .refuses(let status):
            return (HTTPResponse(status: .init(code: status), headerFields: [.retryAfter: "2"]), ResponseBody())
        case .loses: throw TransportError(.connectionLost, message: "", wasSent: true)
        }
    }

    private func slowBody() -> ResponseBody {
        let left = Mutex(3)
        return ResponseBody(
            AsyncThrowingStream { [clock] in
                try await clock.sleep(for: .milliseconds(500))
                return left.withLock { left in
                    left -= 1
                    return left < 0 ? nil : Array("1".utf8)
                }
            }
        )
    }
}
