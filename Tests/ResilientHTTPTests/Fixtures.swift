import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing
import Timekeeping

/// What the tests ask for.
struct Activity: Codable, Hashable, Sendable {
    var id: Int
    var name: String
}

/// A client over a script, at an address that does not exist.
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

/// The typed error that an operation ends with.
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
    /// A context with so much time left, on a clock that stands still.
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
