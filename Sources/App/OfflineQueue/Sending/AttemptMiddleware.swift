import ErrorContract
import HTTPTypes
import ResilientHTTP

/// The innermost middleware of a queued call. The middleware records each attempt before the first byte is sent, and the outcome
/// afterwards.
///
/// The middleware runs after retries, authorization and gates, so it records exactly the requests that really leave the device.
struct AttemptMiddleware: ClientMiddleware {
    /// Records the attempt. If the attempt must not begin, the closure throws. The call then ends with an error of the kind `cancelled`,
    /// and the client doesn't retry it.
    let begin: @Sendable () async throws -> Void
    /// Records what is known about an attempt that failed with an error.
    let end: @Sendable (APIError) async throws -> Void

    /// Records an attempt, sends the request, and records the known outcome of a failure. The queue itself records a success.
    /// - Throws: `APIError` of the kind `cancelled` if the attempt must not begin. Its underlying error is the reason. Otherwise, the error
    ///   of `next`.
    func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        do {
            try await begin()
        } catch {
            var stopped = APIError(.cancelled, context: context.name, underlying: error)
            (stopped.retry, stopped.attempts) = (.never, context.record.attempts)
            throw stopped
        }
        do {
            return try await next(request, body)
        } catch {
            // Without this record, the outcome counts as unknown, which is safe.
            if let error = error as? APIError { try? await end(error) }
            throw error
        }
    }
}
