import ErrorContract
import HTTPTypes
public import Hummingbird
import Instrumentation
import Logging

/// Continues the trace that a request names in `traceparent`, or begins one.
///
/// Its id stands in every log line of the request (`trace_id`, `span_id`) and in `ServiceContext.current`, from which clients hand
/// it on. What is not exactly as the recommendation has it, or comes twice, is ignored. Who sent a trace is told ours in `traceresponse`.
public struct TraceContextMiddleware<Context: RequestContext>: RouterMiddleware {
    /// Creates the middleware; it stands outermost.
    public init() {}

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let fields = request.headers[values: .traceparent]
        let given = fields.count == 1 ? TraceContext(traceparent: fields[0]) : nil
        let trace = given?.child() ?? .new()
        var context = context
        context.logger[metadataKey: "trace_id"] = .string(trace.traceID)
        context.logger[metadataKey: "span_id"] = .string(trace.spanID)
        var service = ServiceContext.current ?? .topLevel
        service.traceContext = trace
        var response = try await ServiceContext.withValue(service) { [context] in try await next(request, context) }
        if given != nil { response.headers[.traceresponse] = trace.traceparent }
        return response
    }
}
