import ErrorContract
import Foundation
import HTTPTypes
import RateLimiting
import ResilientHTTP
import Synchronization
import Timekeeping

@testable import OfflineQueue

/// A server that performs mutations and honors idempotency keys. It records the performed mutations with the account of their token.
final class MutationServer: Sendable {
    /// A mutation that was performed.
    struct Performed: Hashable, Sendable {
        var path: String
        var body: String
        var account: String?
        var key: String
    }

    struct State: Sendable {
        var performed: [Performed] = []
        /// The responses of finished keys, and when they were finished.
        var finished: [String: (status: Int, at: Duration)] = [:]
        var revoked: Set<String> = []
        var requests: [(path: String, body: String, headers: HTTPFields)] = []
        var serial = 0
    }

    let state = Mutex(State())
    let now: @Sendable () -> Duration
    /// The status for a mutation; a final refusal is not performed.
    let status: @Sendable (_ path: String, _ body: String) -> Int

    init(
        status: @escaping @Sendable (_ path: String, _ body: String) -> Int = { _, _ in 200 },
        now: @escaping @Sendable () -> Duration = { .zero }
    ) {
        (self.now, self.status) = (now, status)
    }

    var performed: [Performed] { state.withLock(\.performed) }
    var bodies: [String] { performed.map(\.body) }
    var requests: [(path: String, body: String, headers: HTTPFields)] { state.withLock(\.requests) }

    /// Issues a token.
    func token(for account: String) -> String {
        state.withLock { state in
            state.serial += 1
            return "\(account):\(state.serial)"
        }
    }

    func credentials(for account: String) -> Credentials {
        Credentials(accessToken: token(for: account), refreshToken: "\(account):refresh", userID: account)
    }

    /// Refuses all tokens that were issued until now.
    func expireTokens() {
        state.withLock { state in
            for serial in 0...state.serial { state.revoked.formUnion(["A:\(serial)", "B:\(serial)"]) }
        }
    }

    /// Performs a request, or repeats the response of its key.
    /// - Parameter isConnected: Whether the client's process lives and has not closed the connection. It is read in the step that performs
    ///   the request, after the time of that step, as tests end processes and move clocks on another thread.
    /// - Returns: `nil` if the connection was closed before the request was performed.
    func handle(
        _ request: HTTPRequest,
        _ body: [UInt8],
        isConnected: () -> Bool = { true }
    ) -> (status: Int, headers: HTTPFields, body: String)? {
        let (path, text) = (request.path ?? "", String(decoding: body, as: UTF8.self))
        return state.withLock { state -> (status: Int, headers: HTTPFields, body: String)? in
            let instant = now()
            guard isConnected() else { return nil }
            state.requests.append((path, text, request.headerFields))
            var account: String?
            if let token = request.headerFields[.authorization]?.dropFirst("Bearer ".count) {
                if state.revoked.contains(String(token)) { return Self.error(401, "AUTH_TOKEN_EXPIRED") }
                account = String(token.prefix { $0 != ":" })
            }
            let key = request.headerFields[.idempotencyKey] ?? ""
            if let known = state.finished[key], instant - known.at < .seconds(24 * 3_600) { return Self.response(known.status) }
            let status = status(path, text)
            if status < 300 { state.performed.append(Performed(path: path, body: text, account: account, key: key)) }
            state.finished[key] = (status, instant)
            return Self.response(status)
        }
    }

    static func response(_ status: Int) -> (status: Int, headers: HTTPFields, body: String) {
        status < 300
            ? (status, [.contentType: "application/json"], #"{"success":true,"data":{"id":7}}"#)
            : error(status, "VALIDATION_FAILED")
    }

    static func error(_ status: Int, _ code: String, _ more: String = "") -> (status: Int, headers: HTTPFields, body: String) {
        (status, [.contentType: "application/json"], #"{"error":{"code":"\#(code)","message":"No."\#(more)}}"#)
    }
}

/// Carries requests to a server, or loses them, as a closure decides for each.
final class Network: HTTPTransport {
    enum Fate: Sendable {
        case delivered
        /// The request is lost on its way; the client can't distinguish this from a lost response.
        case requestLost
        /// The server performs the request, and the response is lost.
        case responseLost
        /// No byte leaves the device.
        case neverSent
        /// A proxy responds instead of the server.
        case response(Int, HTTPFields = [:], String = "")
        /// No response arrives before the timeout.
        case hangs
    }

    let server: MutationServer
    private let clock: MonotonicClock
    private let fate: Mutex<@Sendable (HTTPRequest, String) async -> Fate>
    private let dead = Mutex(false)
    private let onStart: @Sendable (_ attempt: String) -> Void

    /// - Parameter onStart: Called when the time of a request has begun.
    init(
        _ server: MutationServer,
        clock: MonotonicClock,
        onStart: @escaping @Sendable (_ attempt: String) -> Void = { _ in }
    ) {
        (self.server, self.clock, self.onStart) = (server, clock, onStart)
        fate = Mutex { _, _ in .delivered }
    }

    /// Decides about requests from now on.
    func decide(_ fate: @escaping @Sendable (HTTPRequest, String) async -> Fate) { self.fate.withLock { $0 = fate } }

    func decide(_ always: Fate) { decide { _, _ in always } }

    /// Ends the process: nothing leaves the device, and nothing arrives.
    func kill() { dead.withLock { $0 = true } }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        let bytes = body?.bytes ?? []
        let decide = fate.withLock(\.self)
        let deadline = clock.now + timeout
        onStart(request.headerFields[.testAttempt] ?? "")
        let fate = await decide(request, String(decoding: bytes, as: UTF8.self))
        // The connection was closed meanwhile.
        guard clock.now < deadline else { throw TransportError(.timeout, message: "the time was up", wasSent: true) }
        guard !dead.withLock(\.self) else { throw TransportError(.connectionLost, message: "killed", wasSent: true) }
        func handle() -> (status: Int, headers: HTTPFields, body: String)? {
            server.handle(request, bytes) { clock.now < deadline && !dead.withLock(\.self) }
        }
        switch fate {
        case .neverSent: throw TransportError(.noInternet, message: "offline", wasSent: false)
        case .requestLost: throw TransportError(.connectionLost, message: "lost", wasSent: true)
        case .responseLost:
            _ = handle()
            throw TransportError(.connectionLost, message: "lost", wasSent: true)
        case .hangs:
            try? await clock.sleep(until: clock.now + timeout)
            throw TransportError(.timeout, message: "the time was up", wasSent: true)
        case .response(let status, let headers, let body): return Self.response((status, headers, body))
        case .delivered:
            guard let response = handle(), !dead.withLock(\.self) else {
                throw TransportError(.connectionLost, message: "the connection was closed", wasSent: true)
            }
            return Self.response(response)
        }
    }

    private static func response(_ parts: (status: Int, headers: HTTPFields, body: String)) -> (HTTPResponse, ResponseBody) {
        (HTTPResponse(status: .init(code: parts.status), headerFields: parts.headers), ResponseBody(Array(parts.body.utf8)))
    }
}
