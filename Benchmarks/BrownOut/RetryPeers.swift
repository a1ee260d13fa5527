import ErrorContract
import HTTPTypes
import ResilientHTTP
import Timekeeping

/// Retries like most clients: three times after a pause, without regard to the server's delay.
struct PlainRetry: ClientMiddleware {
    /// The pause before a retry, counted from 0.
    let pause: @Sendable (Int) -> Duration

    func intercept(
        _ request: HTTPRequest,
        body: RequestBody?,
        context: CallContext,
        next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
    ) async throws -> (HTTPResponse, ResponseBody) {
        var retries = 0
        while true {
            do {
                return try await next(request, body)
            } catch {
                guard retries < 3 else { throw error }
            }
            let clock = context.environment.clock
            try await clock.sleep(until: clock.now + pause(retries))
            retries += 1
        }
    }
}

/// A client configuration that is compared.
struct Contender: Sendable {
    var name: String
    var middleware: @Sendable () -> [any ClientMiddleware]

    static let all = [
        Contender(name: "no retry") { [] },
        Contender(name: "3 retries, 1 s apart") { [PlainRetry { _ in .seconds(1) }] },
        Contender(name: "3 retries, full jitter") {
            let backoff = Backoff()
            return [PlainRetry { backoff.pause(beforeRetry: $0, chance: .random(in: 0...1)) }]
        },
        Contender(name: "Holdfast, all defaults") { ClientPipeline.standard() },
    ]
}
