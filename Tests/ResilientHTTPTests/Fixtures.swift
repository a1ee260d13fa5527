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

/// Returns a middleware that runs a closure before the second request, for example to sign another user in.
func beforeSecondRequest(_ action: @escaping @Sendable () async throws -> Void) -> ClosureMiddleware {
    let requests = Counter()
    return ClosureMiddleware { request, body, next in
        if requests.increment() == 2 { try await action() }
        return try await next(request, body)
    }
}

extension Session {
    /// Returns a session of the user Ana with the token `ana`. A refresh returns the token `ana2`.
    static func ofAna() -> Session {
        let ana = Credentials(accessToken: "ana", refreshToken: "refresh", userID: "ana")
        return Session(store: MemoryCredentialStore(ana)) { _ in Credentials(accessToken: "ana2", refreshToken: nil) }
    }
}

extension Credentials {
    /// The credentials of another user than that of ``Session/ofAna()``.
    static let eva = Credentials(accessToken: "eva", refreshToken: nil, userID: "eva")
}
