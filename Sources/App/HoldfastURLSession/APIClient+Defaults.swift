public import ErrorContract
public import Foundation
public import ResilientHTTP

extension APIClient {
    /// Creates a client for an app with all defaults: `URLSession`, 30 s for a call, 10 s for an attempt, and safe retries. The client has
    /// a gate, which delays calls while the server requests a delay, and a circuit breaker. On Apple platforms except watchOS, the client
    /// also monitors the device's connectivity (`Connectivity.system`).
    ///
    /// ```swift
    /// let api = APIClient(baseURL: url, session: session)
    /// let notes: [Note] = try await api.get("/notes")
    /// ```
    ///
    /// To limit the rate of the app's calls, pass `throttle`, such as `throttle: .appsInTheField`. The client stores the counts of these
    /// quotas in memory, and applies the quotas to all of its calls together. A call that exceeds a quota fails at once with the kind
    /// `throttled`. If you need other middleware, quotas per user, or quotas that survive a restart, pass a transport and compose
    /// `ClientPipeline.standard(retry:gate:throttle:breaker:)`.
    ///
    /// Create one client per server and share it, because the connections, the gate, the breaker and the quotas belong to the client.
    ///
    /// - Parameters:
    ///   - baseURL: The base address of all paths, with scheme and host.
    ///   - language: The language that the client requests in `Accept-Language`.
    ///   - timeout: The maximum duration of a call, including delays and the body of the response.
    ///   - session: The session whose access token the client adds to calls; with `nil`, the client sends calls without a token.
    ///   - policies: The policies of individual endpoints.
    ///   - coding: The encoding and decoding of values as JSON, such as `.snakeCase`.
    ///   - throttle: The app's own quotas by endpoint; `nil` for no quotas.
    ///   - catalogue: The error codes that the app knows.
    ///   - environment: Clocks, randomness and logger.
    public init(
        baseURL: URL,
        language: Language = .english,
        timeout: Duration = .seconds(30),
        session: Session? = nil,
        policies: EndpointPolicies = EndpointPolicies(),
        coding: JSONCoding = .standard,
        throttle: ThrottlePolicy? = nil,
        catalogue: ErrorCatalogue = .standard,
        environment: ClientEnvironment = ClientEnvironment()
    ) {
        let quotas = throttle.map { policy in
            Throttler(policy: policy, routes: policies.routes, basePath: baseURL.path(percentEncoded: true))
        }
        var environment = environment
        // On watchOS, the system doesn't report the network path to apps.
        #if canImport(Network) && !os(watchOS)
            if environment.connectivity == nil { environment.connectivity = .system }
        #endif
        self.init(
            baseURL: baseURL,
            transport: .urlSession(),
            language: language,
            timeout: timeout,
            session: session,
            policies: policies,
            coding: coding,
            middleware: ClientPipeline.standard(throttle: quotas.map { ThrottleMiddleware($0) }),
            catalogue: catalogue,
            environment: environment
        )
    }
}
