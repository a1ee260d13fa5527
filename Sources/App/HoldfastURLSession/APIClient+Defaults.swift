public import ErrorContract
public import Foundation
public import ResilientHTTP

extension APIClient {
    /// Creates a client for an app with all defaults: `URLSession`, 30 s for a call and 10 s for an attempt, safe retries, the gate and the
    /// circuit breaker. On Apple platforms it also monitors the device's connectivity (`Connectivity.system`).
    ///
    /// ```swift
    /// let api = APIClient(baseURL: url, session: session)
    /// let notes: [Note] = try await api.get("/notes")
    /// ```
    ///
    /// The app's own quotas are one argument, such as `throttle: .appsInTheField`. They are stored in memory and apply to all calls of the
    /// client together. A call that exceeds them fails with the kind `throttled` instead of waiting. To store quotas over restarts or per
    /// user, or to use other middleware, pass a transport and compose `ClientPipeline.standard(retry:gate:throttle:breaker:)`.
    ///
    /// Create one client per server and share it: the connections, the gate, the breaker and the quotas belong to the client.
    ///
    /// - Parameters:
    ///   - baseURL: The address that paths are relative to, with scheme and host.
    ///   - language: The language that requests ask for in `Accept-Language`.
    ///   - timeout: The maximum duration of a call, including delays and the body of the response.
    ///   - session: The session whose access token calls carry; `nil` sends calls without a token.
    ///   - policies: The policies of single endpoints.
    ///   - coding: The encoding and decoding of values as JSON, such as `.snakeCase`.
    ///   - throttle: The app's own quotas by endpoint; `nil` sets none.
    ///   - catalogue: The codes that the app knows.
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
        #if canImport(Network)
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
