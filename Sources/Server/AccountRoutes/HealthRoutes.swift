import Crypto
import ErrorContract
import Foundation
import HTTPTypes
public import Hummingbird
import Logging
import Observability
import ServerMiddleware
import StrictJSON
public import Timekeeping

/// Checks the dependencies that must work for a server to be ready.
///
/// ``HealthRoutes`` runs the checks for each readiness request. A check should therefore take only a few milliseconds and wait for no lock.
/// If checking a dependency is expensive, cache the last result.
///
/// ```swift
/// let readiness = Readiness(checks: [
///     .init("database") { try await stores.ping() },
/// ])
/// ```
public struct Readiness: Sendable {
    /// A check of one dependency.
    public struct Check: Sendable {
        /// The name in the response and the log.
        let name: String
        /// Throws if the dependency does not work. It is canceled after 2 s.
        let run: @Sendable () async throws -> Void

        /// Creates a check.
        /// - Parameters:
        ///   - name: The name of the dependency, such as `database`.
        ///   - run: Throws if the dependency does not work.
        public init(_ name: String, run: @escaping @Sendable () async throws -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// The checks in the order in which they run.
    private let checks: [Check]
    private let clock: MonotonicClock

    /// Creates the list of checks, which run in the given order.
    /// - Parameters:
    ///   - checks: The checks. If the list is empty, the server is always ready.
    ///   - clock: The clock that measures the 2 s of a check. A test passes a manual clock.
    public init(checks: [Check], clock: MonotonicClock = .continuous) {
        self.checks = checks
        self.clock = clock
    }

    /// Runs the checks one after the other, each for at most 2 s, and returns the first failure; `nil` if the server is ready.
    ///
    /// If a check ignores cancellation, the method returns only after the check ends.
    /// - Returns: The name of the failed check and its error. The error is `SERVER_TIMEOUT` after 2 s.
    public func failure() async -> (check: String, error: any Error)? {
        for check in checks {
            do {
                try await clock.run(within: .seconds(2), throwing: ContractError(.serverTimeout), check.run)
            } catch {
                return (check.name, error)
            }
        }
        return nil
    }
}

/// The health routes: liveness, which only responds, and readiness, which runs the checks.
///
/// ```swift
/// let router = Router(context: BasicRequestContext.self)
/// let readiness = Readiness(checks: [
///     .init("disk") { _ = try FileManager.default.attributesOfFileSystem(forPath: "/") }
/// ])
/// let health = HealthRoutes<BasicRequestContext>(readiness)
/// health.addLive(to: router)
/// health.addReady(to: router)
/// ```
/// Use liveness to detect a server that hangs and must be restarted. Use readiness to detect a server that should get no requests.
public struct HealthRoutes<Context: RequestContext>: Sendable {
    /// The checks of the route for readiness.
    private let readiness: Readiness

    /// Creates the routes.
    /// - Parameter readiness: The checks of the route for readiness.
    public init(_ readiness: Readiness) {
        self.readiness = readiness
    }

    /// Adds `/health/live` to a router or a group. The response is 200 while the server handles requests.
    ///
    /// The route checks no dependencies, because a restart of the server would not repair a dependency such as the database.
    /// - Parameter router: The router. The route needs no authentication and should have no rate limit.
    public func addLive(to router: some RouterMethods<Context>) {
        router.get("/health/live", use: live)
    }

    /// Adds `/health/ready` to a router or a group. The response is 200, or 503 with `details.check` and `Retry-After: 5`.
    ///
    /// Each request runs the checks, and a check usually uses a dependency such as the database. Make this route reachable only for the
    /// load balancer, so that other clients can't cause this load. The response contains no secret.
    /// - Parameter router: The router. It needs a middleware that renders errors, such as `ContractErrorMiddleware`.
    public func addReady(to router: some RouterMethods<Context>) {
        router.get("/health/ready", use: ready)
    }

    /// Responds without a check.
    @Sendable private func live(_ request: Request, _ context: Context) throws -> Response {
        try .json(["status": "live"])
    }

    /// Runs the checks. If a check fails, the route logs the error, and the response contains only the name of the check.
    @Sendable private func ready(_ request: Request, _ context: Context) async throws -> Response {
        guard let (check, error) = await readiness.failure() else { return try .json(["status": "ready"]) }
        context.logger.error("Readiness check failed", metadata: .failure(error, ["check": "\(check)"]))
        throw ContractError(.serverServiceUnavailable, details: ["check": .string(check)], retryAfter: .seconds(5))
    }
}

/// The callers that can read the metrics of a server. Metrics disclose the load and the versions, so they are never public.
///
/// All other requests receive an error: 404 for another host, 401 for a missing or wrong token.
public enum MetricsAccess: Sendable {
    /// Admits requests whose `Host` is a name of this machine, such as `localhost`. Use this case only in development. If a proxy sets
    /// `Host` to such a name, all requests are admitted.
    case loopback
    /// Admits requests with this bearer token. The comparison takes the same time for each token of the same length.
    case bearer(String)
}

/// The route of the server's metrics in the format of Prometheus.
///
/// ```swift
/// let route = MetricsRoute<BasicRequestContext>(access: .bearer(token)) { await exporter.text() }
/// route.add(to: router)
/// ```
public struct MetricsRoute<Context: RequestContext>: Sendable {
    /// The clients that may read the metrics.
    private let access: MetricsAccess
    /// Returns the metrics. It runs for each request.
    private let text: @Sendable () async -> String

    /// Creates the route.
    /// - Parameters:
    ///   - access: The clients that may read the metrics.
    ///   - text: The metrics in the exposition format 0.0.4.
    public init(access: MetricsAccess, text: @escaping @Sendable () async -> String) {
        self.access = access
        self.text = text
    }

    /// Adds the route to a router or a group. A request that ``MetricsAccess`` doesn't admit receives 404 for another host, or 401 for a
    /// missing or wrong token.
    public func add(to router: some RouterMethods<Context>) {
        router.get("/metrics") { request, _ in
            try check(request)
            return Response(
                status: .ok,
                headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: await text()))
            )
        }
    }

    /// Throws if the request has no access to the metrics.
    private func check(_ request: Request) throws {
        switch access {
        case .loopback: try request.requireHost(\.isLoopback)
        case .bearer(let token):
            let given = try request.bearerToken()
            // Compares digests, so that the time doesn't depend on how many characters are equal.
            guard SHA256.hash(data: Data(given.utf8)) == SHA256.hash(data: Data(token.utf8)) else {
                throw ContractError(.authTokenInvalid)
            }
        }
    }
}

extension Request {
    /// Returns the token of `Authorization: Bearer`.
    /// - Throws: ``ContractError`` with the code `AUTH_TOKEN_MISSING` or `AUTH_TOKEN_INVALID`.
    func bearerToken() throws -> String {
        guard let field = headers.value(of: .authorization) else { throw ContractError(.authTokenMissing) }
        // Splits bytes, which is faster than characters for a long token.
        let parts = field.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true).map(Substring.init)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw ContractError(.authTokenInvalid) }
        return String(parts[1])
    }
}
