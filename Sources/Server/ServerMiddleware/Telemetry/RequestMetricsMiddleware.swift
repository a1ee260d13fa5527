public import CoreMetrics
import HTTPTypes
public import Hummingbird
import Synchronization
import Timekeeping

/// Counts and times requests for swift-metrics, by method, route template, and status class.
///
/// - `http_server_requests`, and the timer `http_server_request_duration`: requests that have a response.
/// - `http_server_requests_in_flight`: requests that have no response yet.
///
/// The status is `2xx` to `5xx`, or `client_timeout`. A client can cause a 504 by sending a short time in `X-Request-Timeout-Ms`. Such a
/// response counts as `client_timeout`, so clients can't trigger alerts for server errors.
///
/// No label contains text from a client. The route of an unknown path is `none`, and an unusual method is `other`. The number of routes
/// therefore limits the number of time series.
///
/// Add this middleware as the outermost one, so that it receives errors as responses.
public struct RequestMetricsMiddleware<Context: RequestContext>: RouterMiddleware {
    private let metrics: RequestMetrics

    /// Creates the middleware.
    /// - Parameter metrics: The factory of the metrics; `nil` uses the process's default.
    public init(metrics: (any MetricsFactory)? = nil) {
        self.metrics = RequestMetrics(factory: metrics ?? MetricsSystem.factory)
    }

    /// Passes the request on, and counts it when its response is ready. An error that no other middleware converts to a response counts as
    /// 500.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let clock = ContinuousClock()
        let begin = clock.now
        metrics.inFlight.increment()
        var status = HTTPResponse.Status.internalServerError
        defer {
            metrics.inFlight.decrement()
            let duration = begin.duration(to: clock.now)
            let isClientTimeout =
                status == .gatewayTimeout && (try? request.clientTimeout).flatMap { $0 }.map { $0 <= duration } ?? false
            metrics.note(request.method, context.routeTemplate, isClientTimeout ? .clientTimeout : .init(status), took: duration)
        }
        let response = try await next(request, context)
        status = response.status
        return response
    }
}

/// Creates each metric object at its first use and stores it, so that later requests only look it up.
private final class RequestMetrics: Sendable {
    /// The status of a request, as the label `status` reports it.
    enum Outcome: Hashable {
        /// The first digit of the status.
        case statusClass(Int)
        /// A 504 that the server sent because the time that the client requested was over.
        case clientTimeout

        init(_ status: HTTPResponse.Status) { self = .statusClass(status.code / 100) }

        /// The value of the label `status`.
        var label: String {
            switch self {
            case .statusClass(let digit): "\(digit)xx"
            case .clientTimeout: "client_timeout"
            }
        }
    }

    /// The labels of one time series.
    private struct Series: Hashable {
        let method: String
        let route: String
        let outcome: Outcome
    }

    /// The metrics of one time series.
    private struct Measurements {
        let count: Counter
        let duration: Timer
    }

    /// The methods that have their own label. All other methods share the label `other`.
    private static let usual: Set<HTTPRequest.Method> = [.get, .post, .head, .put, .patch, .delete, .options]

    /// The number of requests without a response.
    let inFlight: Meter
    private let factory: any MetricsFactory
    private let measurements = Mutex<[Series: Measurements]>([:])

    /// Creates the object. The first requests create the time series.
    init(factory: any MetricsFactory) {
        self.factory = factory
        inFlight = Meter(label: "http_server_requests_in_flight", dimensions: [], factory: factory)
    }

    /// Counts and times a request.
    func note(_ method: HTTPRequest.Method, _ route: String, _ outcome: Outcome, took duration: Duration) {
        let series = Series(
            method: Self.usual.contains(method) ? method.rawValue : "other",
            route: route,
            outcome: outcome
        )
        let measurements = measurements.withLock { all in
            if let known = all[series] { return known }
            let dimensions = [("method", series.method), ("route", series.route), ("status", series.outcome.label)]
            let new = Measurements(
                count: Counter(label: "http_server_requests", dimensions: dimensions, factory: factory),
                duration: Timer(
                    label: "http_server_request_duration",
                    dimensions: dimensions,
                    preferredDisplayUnit: .seconds,
                    factory: factory
                )
            )
            all[series] = new
            return new
        }
        measurements.count.increment()
        measurements.duration.recordNanoseconds(duration.wholeNanoseconds)
    }
}
