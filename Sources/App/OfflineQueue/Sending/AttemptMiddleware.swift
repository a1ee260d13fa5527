import ErrorContract
import HTTPTypes
import ResilientHTTP

/// The last step before the transport: notes each attempt in the journal before its first byte, and what is known of it afterwards.
struct AttemptMiddleware: ClientMiddleware {
    /// Throws if the attempt may not begin.
    let begin: @Sendable () async throws -> Void
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
            // If it can't be noted, the outcome counts as unknown.
            if let settlement = (error as? APIError).flatMap({ QueueEntry.Settlement($0) }) { try? await end(settlement) }
            throw error
        }
    }
}
