import ErrorContract
import HTTPTypes
import ResilientHTTP

/// The innermost middleware of a queued call: notes each attempt in the journal before its first byte, and its outcome afterwards.
///
/// It runs after retries, authorization and gates, so that each request that really leaves the device is noted, and no other.
struct AttemptMiddleware: ClientMiddleware {
    /// Notes the attempt. Throws if it may not begin; the call then ends with the kind `cancelled` and is not retried.
    let begin: @Sendable () async throws -> Void
    /// Notes the settlement of an attempt that failed.
    let end: @Sendable (QueueEntry.Settlement) async throws -> Void

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
            // Without the note, the outcome counts as unknown, which is safe.
            if let settlement = (error as? APIError).flatMap({ QueueEntry.Settlement($0) }) { try? await end(settlement) }
            throw error
        }
    }
}
