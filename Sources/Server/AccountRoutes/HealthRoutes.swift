import ErrorContract
import HTTPTypes
public import Hummingbird
import Logging
import Observability
import ServerMiddleware
import StrictJSON

/// Liveness and readiness.
public struct HealthRoutes<Context: RequestContext>: Sendable {
    /// Something that must work for the server to be ready.
    public struct Check: Sendable {
        let name: String
        let run: @Sendable () async throws -> Void

        /// Creates a check.
        /// - Parameters:
        ///   - name: What is checked, such as `database`.
        ///   - run: Throws if it does not work.
        public init(_ name: String, run: @escaping @Sendable () async throws -> Void) {
            self.name = name
            self.run = run
        }
    }

    private let checks: [Check]

    /// Creates the routes.
    public init(checks: [Check]) {
        self.checks = checks
    }

    /// Adds `/health/live` to a router or a group.
    public func addLive(to router: some RouterMethods<Context>) {
        router.get("/health/live", use: live)
    }

    /// Adds `/health/ready` to a router or a group.
    public func addReady(to router: some RouterMethods<Context>) {
        router.get("/health/ready", use: ready)
    }

    @Sendable private func live(_ request: Request, _ context: Context) throws -> Response {
        try .json(["status": "live"])
    }

    /// What hangs does not work.
    private func within(_ time: Duration, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { try await body() }
            tasks.addTask {
                try await Task.sleep(for: time)
                throw ContractError(.serverTimeout)
            }
            defer { tasks.cancelAll() }
            try await tasks.next()
        }
    }

    @Sendable private func ready(_ request: Request, _ context: Context) async throws -> Response {
        for check in checks {
            do {
                try await within(.seconds(2)) { try await check.run() }
            } catch {
                context.logger.error("Not ready", metadata: .failure(error, ["check": "\(check.name)"]))
                throw ContractError(
                    .serverServiceUnavailable,
                    details: ["check": .string(check.name)],
                    retryAfter: .seconds(5)
                )
            }
        }
        return try .json(["status": "ready"])
    }
}
