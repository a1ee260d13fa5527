import Foundation
import HTTPTypes
import HoldfastTesting
import RateLimiting
import ResilientHTTP
import Synchronization

/// A server behind a network, in memory. It uses the real limiter and the real header fields, and calls take a random time in
/// each
/// direction.
final class LimitedServer: HTTPTransport {
    /// The notation of the limit in the header fields.
    enum Dialect: CaseIterable, Sendable {
        /// `RateLimit-Policy` and `RateLimit` as structured fields.
        case draft10
        /// `RateLimit: limit=…, remaining=…, reset=…`.
        case draft7
        /// A separate field for each fact, with the window beside the limit.
        case draft6
        /// `X-RateLimit-*`, the reset in seconds from now.
        case vendor
        /// `X-RateLimit-*`, the reset in seconds since 1970, like GitHub.
        case vendorInstant
    }

    private struct State {
        var window = SlidingWindow()
        var generator: SplitMix64
        var log: [(instant: Duration, isAdmitted: Bool)] = []
    }

    let policy: RateLimitPolicy
    let dialect: Dialect
    private let latency: ClosedRange<Int64>
    private let clock: ManualClock
    private let state: Mutex<State>

    init(_ policy: RateLimitPolicy, dialect: Dialect, latency: ClosedRange<Int64>, clock: ManualClock, seed: UInt64) {
        (self.policy, self.dialect, self.latency, self.clock) = (policy, dialect, latency, clock)
        state = Mutex(State(generator: SplitMix64(seed: seed)))
    }

    /// The instants of the calls, and whether they were admitted.
    var log: [(instant: Duration, isAdmitted: Bool)] { state.withLock(\.log) }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        try await travel()
        let response = makeResponse()
        try await travel()
        return (response, ResponseBody(Array("1".utf8)))
    }

    private func travel() async throws(TransportError) {
        let time = state.withLock { Int64.random(in: latency, using: &$0.generator) }
        do {
            try await clock.sleep(for: .nanoseconds(time))
        } catch {
            throw TransportError(.cancelled, message: "cancelled", wasSent: true)
        }
    }

    private func makeResponse() -> HTTPResponse {
        state.withLock { state in
            let now = Int64(clock.now.offset / .nanoseconds(1))
            let decision = state.window.admit(at: now, policy: policy)
            state.log.append((clock.now.offset, decision.isAdmitted))
            // The time until the remaining quota grows by one.
            let remaining = state.window.remaining(at: now, policy: policy)
            var probe = state.window
            if remaining > 0 { _ = probe.admit(at: now, policy: policy, cost: remaining) }
            var reset = Duration.zero
            if case .refused(let wait) = probe.admit(at: now, policy: policy) { reset = wait }
            var response = HTTPResponse(status: decision.isAdmitted ? .ok : .tooManyRequests)
            report(remaining: remaining, reset: reset, in: &response.headerFields)
            if case .refused(let wait) = decision { response.headerFields[.retryAfter] = "\(wait.secondsUp)" }
            return response
        }
    }

    private func report(remaining: Int, reset: Duration, in fields: inout HTTPFields) {
        func set(_ name: String, _ value: some CustomStringConvertible) {
            if let name = HTTPField.Name(name) { fields[name] = value.description }
        }
        let (quota, window) = (policy.quota, policy.window.secondsUp)
        switch dialect {
        case .draft10:
            set(RateLimitFields.policyName, RateLimitFields.policies([policy]))
            set(RateLimitFields.limitName, RateLimitFields.limit(policy, remaining: remaining, reset: reset))
        case .draft7: set("RateLimit", "limit=\(quota), remaining=\(remaining), reset=\(reset.secondsUp)")
        case .draft6:
            set("RateLimit-Limit", "\(quota), \(quota);w=\(window)")
            set("RateLimit-Remaining", remaining)
            set("RateLimit-Reset", reset.secondsUp)
        case .vendor:
            set("X-RateLimit-Limit", quota)
            set("X-RateLimit-Remaining", remaining)
            set("X-RateLimit-Reset", reset.secondsUp)
        case .vendorInstant:
            let start: Int64 = 1_762_252_200
            set("Date", HTTPDateText.text(start + clock.now.offset.components.seconds))
            set("X-RateLimit-Limit", quota)
            set("X-RateLimit-Remaining", remaining)
            set("X-RateLimit-Reset", start + (clock.now.offset + reset).secondsUp)
        }
    }
}

/// An instant as an HTTP-date (RFC 9110 §5.6.7).
enum HTTPDateText {
    /// The three forms that a recipient must support.
    enum Form: String {
        case imf = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        case rfc850 = "EEEE, dd-MMM-yy HH:mm:ss 'GMT'"
        case asctime = "EEE MMM d HH:mm:ss yyyy"
    }

    static func text(_ secondsSince1970: Int64, in form: Form = .imf) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = form.rawValue
        return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(secondsSince1970)))
    }
}

extension Duration {
    var secondsUp: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
