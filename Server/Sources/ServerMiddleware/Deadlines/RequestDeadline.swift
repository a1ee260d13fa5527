import ErrorContract
package import HTTPTypes
import Hummingbird

/// The time that a route may take. A request that is not answered by then is answered with 504 `SERVER_TIMEOUT`.
///
/// The route's task is cancelled, but not waited for: one that does not listen must not keep the client waiting. What it does later
/// is its own affair; whether it took effect is unknown. A body that is streamed after the route has returned is not bounded.
///
/// A client that waits no longer than some time says so in `X-Request-Timeout-Ms`: then the smaller of the two counts, and a request
/// that has no time left is answered without being worked on.
public struct RequestDeadline: Sendable {
    private let limit: Duration
    private let heedsClients: Bool
    private let deadlines: any DeadlineSource

    /// Creates a deadline.
    /// - Parameters:
    ///   - limit: The time from when the route is called until it returns.
    ///   - heedsClients: Whether `X-Request-Timeout-Ms` can make it shorter.
    ///   - clock: Measures the time.
    /// - Precondition: `limit` is positive.
    public init<C: Clock>(
        _ limit: Duration,
        heedsClients: Bool = true,
        clock: C = ContinuousClock()
    ) where C.Duration == Duration {
        precondition(limit > .zero, "limit must be positive (is \(limit))")
        self.limit = limit
        self.heedsClients = heedsClients
        self.deadlines = Deadlines(clock: clock)
    }

    /// The time that a request has: zero if its client has stopped waiting already.
    func limit(of request: Request) -> Duration {
        guard heedsClients, let value = request.headers[.requestTimeout], let patience = Self.milliseconds(value) else {
            return limit
        }
        return min(limit, patience)
    }

    /// Runs a route for a request.
    /// - Throws: ``ContractError`` with the code `SERVER_TIMEOUT` if the time is over; what the route throws is passed on.
    func run(for request: Request, _ route: @escaping @Sendable () async throws -> Response) async throws -> Response {
        // The connection ends with the answer: the route may hold on to what has come on it.
        let expired = ContractError(.serverTimeout, headers: [.connection: "close"])
        let limit = limit(of: request)
        guard limit > .zero else { throw expired }
        return try await deadlines.run(within: limit, throwing: expired, route)
    }

    /// A whole number of milliseconds, below zero for a deadline that has passed; `nil` for anything else, which is ignored: a
    /// client that can't say how long it waits is treated as one that does not.
    private static func milliseconds(_ value: String) -> Duration? {
        let isNegative = value.utf8.first == UInt8(ascii: "-")
        let digits = value.utf8.dropFirst(isNegative ? 1 : 0)
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        guard !isNegative else { return .zero }
        // More digits than an Int holds are longer than any limit.
        return Int64(value).map { .milliseconds($0) }
    }
}

extension HTTPField.Name {
    /// `X-Request-Timeout-Ms`: how long the client still waits.
    package static let requestTimeout = limitField("X-Request-Timeout-Ms")
}
