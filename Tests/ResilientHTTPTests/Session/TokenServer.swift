import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import Synchronization

@testable import ResilientHTTP

/// A server in memory with access tokens. It responds with 401 and a code to all tokens except the newest one.
final class TokenServer: HTTPTransport {
    private struct State {
        var valid: String
        var refused = 0
        var sentWith: [String: Int] = [:]
        var held: [CheckedContinuation<Void, Never>] = []
        var holdsEvery: Int?
        var isReleased = false
        var code: ErrorCode
    }

    private let state: Mutex<State>

    /// - Parameters:
    ///   - valid: The token that is accepted.
    ///   - code: The code of the refusal of other tokens.
    ///   - holdsEvery: The interval of refusals that are delayed until ``release()``, such as 10 for each tenth one.
    init(valid: String, code: ErrorCode = .authTokenExpired, holdsEvery: Int? = nil) {
        state = Mutex(State(valid: valid, holdsEvery: holdsEvery, code: code))
    }

    /// Returns the number of requests that contained a token.
    func sent(with token: String) -> Int { state.withLock { $0.sentWith[token] ?? 0 } }
    /// The number of delayed refusals.
    var heldBack: Int { state.withLock(\.held.count) }

    /// Accepts only another token from now on.
    func accept(_ token: String) { state.withLock { $0.valid = token } }

    /// Releases the delayed refusals, and delays none any more.
    func release() {
        let held = state.withLock { state in
            state.isReleased = true
            defer { state.held = [] }
            return state.held
        }
        for response in held { response.resume() }
    }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let token = request.headerFields[.authorization].map { String($0.dropFirst(7)) } ?? "none"
        let (isValid, isHeld, code) = state.withLock { state in
            state.sentWith[token, default: 0] += 1
            if token == state.valid { return (true, false, state.code) }
            state.refused += 1
            let isHeld = state.holdsEvery.map { state.refused.isMultiple(of: $0) } ?? false
            return (false, isHeld && !state.isReleased, state.code)
        }
        if isValid { return (HTTPResponse(status: .ok), ResponseBody(Array("1".utf8))) }
        if isHeld {
            await withCheckedContinuation { continuation in
                let isLate = state.withLock { state in
                    if !state.isReleased { state.held.append(continuation) }
                    return state.isReleased
                }
                if isLate { continuation.resume() }
            }
        }
        return (HTTPResponse(status: .unauthorized, headerFields: [.errorCode: code.rawValue]), ResponseBody())
    }
}

extension Credentials {
    /// Returns test credentials whose tokens contain the generation.
    static func number(_ number: Int, expiresAt: Date? = nil) -> Credentials {
        Credentials(accessToken: "at\(number)", refreshToken: "rt\(number)", expiresAt: expiresAt)
    }
}

/// A counter for concurrent tasks.
final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .relaxed) }
    @discardableResult func increment() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
}
