import ErrorContract
import HTTPTypes
public import Hummingbird
import Logging
import Observability

/// Logs one line for each request, at `info`: method, template of the route, status, milliseconds, and the id of the request.
///
/// The line never contains the path, the query or a header, because they can contain secrets. If no route matches a request, the line
/// contains `none` as the template. The measured time ends when the head of the response is ready, so it doesn't include the sending of a
/// streamed body.
public struct AccessLogMiddleware<Context: RequestContext>: RouterMiddleware {
    private let quiet: Set<String>

    /// Creates the middleware. Add it as the outermost middleware.
    /// - Parameter quiet: The templates of routes, such as health checks. The middleware logs their successful requests at `debug`.
    public init(quiet: Set<String> = []) {
        self.quiet = quiet
    }

    /// Passes the request on, and logs its response. If the next handler throws an error, the middleware logs nothing. So add the
    /// middleware outside of ``ContractErrorMiddleware``.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let clock = ContinuousClock()
        let begin = clock.now
        let response = try await next(request, context)
        let route = context.routeTemplate
        let level: Logger.Level = quiet.contains(route) && response.status.code < 400 ? .debug : .info
        context.logger.log(
            level: level,
            "Request",
            metadata: [
                "http.method": .string(request.method.rawValue), "http.route": .string(route),
                "http.status": .string(String(response.status.code)),
                "http.ms": .string(String(Int((begin.duration(to: clock.now) / .milliseconds(1)).rounded()))),
                Logger.requestIDKey: .string(response.headers.value(of: .requestID) ?? "none"),
            ]
        )
        return response
    }
}

extension RequestContext {
    /// The template of the route, or `none`. For unknown paths, Hummingbird's endpoint path is the name of its responder, which has no
    /// slash.
    var routeTemplate: String { endpointPath.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "none" }
}
