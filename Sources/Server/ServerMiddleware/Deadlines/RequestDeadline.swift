import ErrorContract
import HTTPTypes
import Hummingbird
import StrictJSON

/// The longest time that a route can take. If a route returns no response within this time, the client gets 504 `SERVER_TIMEOUT`.
///
/// The server then cancels the task of the route, but does not wait until the route has ended. A route that ignores its cancellation can
/// therefore still change data after the response. If the route returns a streamed body, the time for sending the body is not limited.
///
/// A client can send the header `X-Request-Timeout-Ms` with the number of milliseconds for which it still waits for the response. If this
/// time is shorter than the server's limit, it replaces the limit. If the value is not a positive whole number, the client gets 400.
///
/// ``ContractRouter`` and ``ContractGroup`` have a deadline of 30 seconds by default. Pass the same value to several routers: all requests
/// then share one timer task.
public struct RequestDeadline: Sendable {
    private let limit: Duration
    private let heedsClients: Bool
    private let deadlines: Deadlines

    /// Creates a deadline.
    /// - Parameters:
    ///   - limit: The time from the call of the route until it returns, including the time for reading the body.
    ///   - heedsClients: Whether `X-Request-Timeout-Ms` can shorten the limit. A client can never extend it.
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

    /// Returns the longest time for a request: the server's limit, or the time that the client sent if this time is shorter.
    /// - Throws: ``ContractError`` with the code `VALIDATION_INVALID_INPUT` if the time that the client sent is not a positive whole
    ///   number.
    func limit(of request: Request) throws -> Duration {
        guard heedsClients, let timeout = try request.clientTimeout else { return limit }
        return min(limit, timeout)
    }

    /// Runs a route for a request. If the time is over, the connection closes after the response with 504, because the route can still be
    /// reading the request's body.
    /// - Parameters:
    ///   - request: The request. Its header `X-Request-Timeout-Ms` can shorten the time.
    ///   - route: The route. It runs in a new task.
    /// - Throws: ``ContractError`` with the code `SERVER_TIMEOUT` if the time is over; errors of the route are rethrown.
    func run(for request: Request, _ route: @escaping @Sendable () async throws -> Response) async throws -> Response {
        // Close the connection after the response, because the route can still be reading the request's body.
        try await deadlines.run(
            within: limit(of: request),
            throwing: ContractError(.serverTimeout, headers: [.connection: "close"]),
            route
        )
    }
}

extension Request {
    /// The time for which the client still waits for the response, from `X-Request-Timeout-Ms`; `nil` if the header is absent.
    /// - Throws: ``ContractError`` with the code `VALIDATION_INVALID_INPUT` if there are several values, or if the value is not a positive
    ///   whole number.
    var clientTimeout: Duration? {
        get throws {
            guard let value = headers.value(of: .requestTimeout) else { return nil }
            let isNumber = !value.isEmpty && value.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard isNumber, value.utf8.contains(where: { $0 != UInt8(ascii: "0") }) else {
                throw ContractError(.validationInvalidInput, details: ["header": .string(HTTPField.Name.requestTimeout.rawName)])
            }
            // A number that doesn't fit an `Int64` exceeds every limit, so a very long time is used instead.
            return .milliseconds(Int64(value) ?? .max / 2_000)
        }
    }
}

/// A responder that applies a deadline to another responder. Routers wrap each route in such a responder.
struct DeadlineResponder<Base: HTTPResponder>: HTTPResponder where Base.Context: Sendable {
    /// The responder of the route.
    let base: Base
    let deadline: RequestDeadline

    /// Responds within the deadline.
    func respond(to request: Request, context: Base.Context) async throws -> Response {
        try await deadline.run(for: request) { try await base.respond(to: request, context: context) }
    }
}
