import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing
import Timekeeping

/// The value that the tests request.
struct Activity: Codable, Hashable, Sendable {
    var id: Int
    var name: String
}

/// Returns a client over a script, with a base URL that does not exist.
func makeClient(
    _ transport: some HTTPTransport,
    base: String = "https://api.example.org",
    language: Language = .english,
    middleware: [any ClientMiddleware] = []
) throws -> APIClient {
    APIClient(
        baseURL: try #require(URL(string: base)),
        transport: transport,
        language: language,
        middleware: middleware,
        environment: ClientEnvironment(wallClock: { Date(timeIntervalSince1970: 1_762_252_200) })
    )
}

/// Returns the typed error of an operation, or `nil` if it succeeds.
func failure(_ operation: () async throws -> Void) async -> APIError? {
    do {
        try await operation()
        return nil
    } catch {
        if !(error is APIError) { Issue.record("not an API error: \(error)") }
        return error as? APIError
    }
}

extension CallContext {
    /// Creates a context with this remaining time, on a clock that does not advance.
    convenience init(timeout: Duration) {
        let environment = ClientEnvironment(clock: MonotonicClock(ManualClock()))
        let endpoint = Endpoint(.get, "/a")
        self.init(
            origin: "https://api.example.org",
            endpoint: endpoint,
            deadline: timeout,
            attemptTimeout: timeout,
            environment: environment,
            record: CallRecord(name: nil, endpoint: endpoint, environment: environment)
        )
    }
}
