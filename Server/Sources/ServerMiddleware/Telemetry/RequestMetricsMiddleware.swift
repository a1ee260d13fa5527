public import CoreMetrics
import HTTPTypes
public import Hummingbird
import Synchronization

/// Counts and times requests for swift-metrics, by method, template of the route, and class of the status.
///
/// - `http_server_requests`, and the timer `http_server_request_duration`: requests that were answered, until the answer is ready to be
///   sent.
/// - `http_server_requests_in_flight`: requests that are being answered.
///
/// No label holds what a client wrote: a path without a route is `none`, an unusual method is `other`. Stands outermost, so that
/// errors count as they are answered.
public struct RequestMetricsMiddleware<Context: RequestContext>: RouterMiddleware {
    private let metrics: RequestMetrics

    /// Creates the middleware.
    /// - Parameter metrics: Where the figures go; the process's own system if `nil`.
    public init(metrics: (any MetricsFactory)? = nil) {
        self.metrics = RequestMetrics(factory: metrics ?? MetricsSystem.factory)
    }

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
            metrics.note(request.method, context.routeTemplate, status, took: begin.duration(to: clock.now))
        }
        let response = try await next(request, context)
        status = response.status
        return response
    }
}

/// The handles, each made once.
private final class RequestMetrics: Sendable {
    private struct Series: Hashable {
        let method: String
        let route: String
        let statusClass: Int
    }

    private struct Figures {
        let count: Counter
        let duration: Timer
    }

    private static let usual: Set<HTTPRequest.Method> = [.get, .post, .head, .put, .patch, .delete, .options]

    let inFlight: Meter
    private let factory: any MetricsFactory
    private let figures = Mutex<[Series: Figures]>([:])

    init(factory: any MetricsFactory) {
        self.factory = factory
        inFlight = Meter(label: "http_server_requests_in_flight", dimensions: [], factory: factory)
    }

    func note(_ method: HTTPRequest.Method, _ route: String, _ status: HTTPResponse.Status, took duration: Duration) {
        let series = Series(
            method: Self.usual.contains(method) ? method.rawValue : "other",
            route: route,
            statusClass: status.code / 100
        )
        let figures = figures.withLock { all in
            if let known = all[series] { return known }
            let dimensions = [("method", series.method), ("route", series.route), ("status", "\(series.statusClass)xx")]
            let new = Figures(
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
        figures.count.increment()
        let (seconds, attoseconds) = duration.components
        figures.duration.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
