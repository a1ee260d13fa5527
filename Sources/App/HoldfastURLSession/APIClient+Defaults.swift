public import ErrorContract
public import Foundation
public import ResilientHTTP

extension APIClient {
    /// Creates a client for an app, with all that the library does for one: `URLSession`, 30 s for a call and 10 s for an attempt,
    /// retries that are safe, the gate and the breaker. On Apple platforms it follows the device's connection (`Connectivity.system`).
    ///
    /// Quotas of the app's own are one argument, such as `throttle: .appsInTheField`. They are stored in memory, for all calls of the client
    /// together, and refuse a call with an error of the kind `throttled` instead of letting it wait. An app that stores them over restarts or
    /// per user, or wants other middleware, names a transport and composes `ClientPipeline.standard(retry:gate:throttle:breaker:)` itself.
    /// - Parameters:
    ///   - baseURL: The address that paths are relative to, with scheme and host.
    ///   - language: The language that answers are asked for in.
    ///   - timeout: The time that a call may take, waits and the body of the answer included.
    ///   - session: Whose access token calls carry; `nil` for none.
    ///   - policies: What differs for single endpoints.
    ///   - coding: How values are written and read as JSON, such as `.snakeCase`.
    ///   - throttle: How many calls go to which endpoint; `nil` for any number.
    ///   - catalogue: The codes that the app knows.
    ///   - surroundings: Time, chance and log.
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
