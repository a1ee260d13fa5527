public import ErrorContract
public import Foundation
import HTTPTypes
public import ResilientHTTP
import Synchronization
import Timekeeping

/// A scenario in which many calls have an expired token, and the refresh endpoint of the server fails a few times. All calls must succeed.
///
/// The client sends `GET /items/N` with a token. If the server refuses the token, the client sends `POST /refresh`. The server of the
/// scenario accepts only ``freshToken``, and refuses ``staleToken`` with 401. The server fails the first ``failures`` refreshes as
/// ``failure`` defines. Each later refresh returns ``freshToken``.
///
/// A correct client runs one refresh at a time for all calls, retries a failed refresh, and then repeats each call:
///
/// ```swift
/// let report = try await RefreshStorm(.unavailable, failures: 2, calls: 50).run(over: transport)
/// #expect(report.errors.isEmpty)
/// #expect(report.refreshesAtOnce == 1)
/// ```
///
/// Use the scenario to test a transport with many concurrent calls and failing refreshes. To test a single refresh, use `Session` with a
/// ``ScriptedTransport``.
public struct RefreshStorm: Sendable {
    /// The failure of a refresh.
    public enum Failure: String, CaseIterable, Sendable {
        /// 503 without a delay. The client backs off and retries.
        case unavailable
        /// 503 with `Retry-After: 1`. The client waits at least a second on its clock.
        case unavailableWithDelay
        /// 429 without a delay. The client backs off and retries.
        case limited
        /// 429 with `Retry-After: 1`.
        case limitedWithDelay
        /// 500.
        case serverError
        /// The connection is reset without a response, so the client doesn't know whether the refresh took effect.
        case resetBeforeResponse
        /// The server sends a success, but the connection is reset within the body. The server has refreshed the session, but the client
        /// has no new tokens.
        case resetWithinBody
        /// No response. The client ends the refresh with a timeout.
        case hang
    }

    /// The initial token of the calls.
    public static let staleToken = "stale"
    /// The token that a refresh returns.
    public static let freshToken = "fresh"

    /// The failure of the first refreshes.
    public var failure: Failure
    /// The number of consecutive failures. The next refresh succeeds.
    public var failures: Int
    /// The number of concurrent calls.
    public var calls: Int

    /// Creates a scenario.
    /// - Parameters:
    ///   - failure: The failure of the first refreshes.
    ///   - failures: The number of failures; at least 0. If a refresh fails more often than the client retries it, some calls fail.
    ///   - calls: The number of concurrent calls.
    public init(_ failure: Failure, failures: Int, calls: Int) {
        (self.failure, self.failures, self.calls) = (failure, failures, calls)
    }

    /// The result of the scenario.
    ///
    /// Check `errors` first. If a call has failed, the other values describe only a part of the scenario.
    public struct Report: Sendable {
        /// The errors of failed calls, in the order in which the calls ended; empty if all calls succeeded.
        public var errors: [APIError] = []
        /// The largest number of refreshes that ran at the same time; 1 if the session merges concurrent refreshes.
        public var refreshesAtOnce = 0
        /// The number of refreshes that the session started. Retries within a refresh don't count.
        public var refreshes = 0
    }

    /// The body of a refresh and of its response.
    private struct Token: Codable { var token: String }

    /// Makes all calls concurrently, with a client that has the standard middleware.
    ///
    /// Use this function if the test has its own server, for example in another process. Otherwise, use ``run(over:timeout:)``, which
    /// starts a server.
    /// - Parameters:
    ///   - url: The address of the server.
    ///   - transport: The HTTP engine.
    ///   - timeout: The deadline of each call, which includes its refresh and all retries.
    ///   - environment: The clock and the source of random numbers of the client.
    /// - Returns: The report, after all calls have ended.
    public func run(
        _ url: URL,
        over transport: any HTTPTransport,
        timeout: Duration = .seconds(30),
        environment: ClientEnvironment
    ) async -> Report {
        let middleware = ClientPipeline.standard()
        let report = Mutex((report: Report(), running: 0))
        var policies = EndpointPolicies()
        policies.set(.sessionRefresh, for: "/refresh", method: .post)
        let refreshing = APIClient(
            baseURL: url,
            transport: transport,
            timeout: timeout,
            policies: policies,
            middleware: middleware,
            environment: environment
        )
        let session = Session(
            store: MemoryCredentialStore(Credentials(accessToken: Self.staleToken, refreshToken: "r")),
            environment: environment
        ) { token in
            report.withLock { report in
                report.running += 1
                report.report.refreshes += 1
                report.report.refreshesAtOnce = max(report.report.refreshesAtOnce, report.running)
            }
            defer { report.withLock { $0.running -= 1 } }
            let fresh: Token = try await refreshing.post("/refresh", Token(token: token))
            return Credentials(accessToken: fresh.token, refreshToken: "r")
        }
        var api = APIClient(
            baseURL: url,
            transport: transport,
            timeout: timeout,
            session: session,
            middleware: middleware,
            environment: environment
        )
        // Otherwise, a pause of the machine could end the attempts of all calls at once, and the retry budget would not suffice.
        api.attemptTimeout = timeout
        let errors = await withTaskGroup(of: APIError?.self) { group in
            for number in 0..<calls {
                group.addTask { [api] in
                    do throws(APIError) {
                        _ = try await api.send(.get, "/items/\(number)")
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: [APIError]()) { errors, error in if let error { errors.append(error) } }
        }
        return report.withLock { report in
            report.report.errors = errors
            return report.report
        }
    }
}

extension RefreshStorm {
    /// Runs the scenario over real sockets, on a clock that is four times as fast as real time.
    /// - Parameters:
    ///   - transport: The HTTP engine.
    ///   - timeout: The deadline of each call on the client's fast clock. The default of 30 s is 7.5 s of real time.
    /// - Returns: The report, after all calls have ended and the server is closed.
    /// - Throws: ``LoopbackServer/SetupFailure`` if the server can't start.
    public func run(over transport: any HTTPTransport, timeout: Duration = .seconds(30)) async throws -> Report {
        let left = Mutex(failures)
        let server = try LoopbackServer { [failure] request in
            let body = #"{"token":"\#(Self.freshToken)"}"#
            guard request.head.first?.hasPrefix("POST") == true else {
                let isFresh = request.header("Authorization") == "Bearer \(Self.freshToken)"
                return .keep(isFresh ? Self.response("200 OK", body: "{}") : Self.response("401 Unauthorized", body: "{}"))
            }
            let fails = left.withLock { left in
                left -= 1
                return left >= 0
            }
            guard fails else { return .keep(Self.response("200 OK", body: body)) }
            return switch failure {
            case .unavailable: .keep(Self.response("503 Service Unavailable"))
            case .unavailableWithDelay: .keep(Self.response("503 Service Unavailable", header: "Retry-After: 1\r\n"))
            case .limited: .keep(Self.response("429 Too Many Requests"))
            case .limitedWithDelay: .keep(Self.response("429 Too Many Requests", header: "Retry-After: 1\r\n"))
            case .serverError: .keep(Self.response("500 Internal Server Error"))
            case .resetBeforeResponse: .reset("")
            case .resetWithinBody: .reset(String(Self.response("200 OK", body: body).dropLast(4)))
            case .hang: .stall("")
            }
        }
        let clock = MonotonicClock(QuickClock(factor: 4))
        guard let url = URL(string: server.origin) else { return Report() }
        let report = await run(url, over: transport, timeout: timeout, environment: ClientEnvironment(clock: clock))
        await server.close()
        return report
    }

    /// Returns the text of a response, with a `Content-Length` for its body. The caller ends each line of `header` with CRLF.
    private static func response(_ status: String, header: String = "", body: String = "") -> String {
        "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(header)\r\n\(body)"
    }
}
