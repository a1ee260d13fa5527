import AccountCore
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Runs a server for the time of a closure, on the address that it is bound to, and shuts it down gracefully.
/// - Throws: What the closure throws, or why the server could not start.
func withRunningServer<Result: Sendable>(
    _ server: HoldfastServer,
    logger: Logger,
    _ body: @escaping @Sendable (URL) async throws -> Result
) async throws -> Result {
    let group = ServiceGroup(services: [try server.application()], logger: logger)
    return try await withThrowingTaskGroup(of: Result?.self) { tasks in
        tasks.addTask {
            try await group.run()
            return nil
        }
        tasks.addTask {
            // Without an address the server could not start, and says why itself.
            guard let bound = try? await server.address.get() else { return nil }
            do {
                let result = try await body(bound)
                await group.triggerGracefulShutdown()
                return result
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
        }
        var result: Result?
        do {
            while let next = try await tasks.next() { result = next ?? result }
        } catch {
            server.address.abandon()
            tasks.cancelAll()
            throw error
        }
        guard let result else { throw CancellationError() }
        return result
    }
}

extension HoldfastServer {
    /// Serves until SIGTERM or SIGINT, then finishes what is in hand. SIGHUP changes the limits to those of the settings.
    /// - Parameter announce: Called once with the address, when the server listens.
    /// - Throws: Why the server could not start.
    func runUntilSignalled(logger: Logger, announce: @escaping @Sendable (URL) -> Void) async throws {
        var group = ServiceGroupConfiguration(
            services: [
                .init(service: try application()), .init(service: Announcement(address: address, announce: announce)),
                .init(service: limitReload),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        // One client that never ends its request must not hold the process for ever; a mail that is cut off may come twice.
        group.maximumGracefulShutdownDuration = max(.seconds(20), configuration.mail.timeout + .seconds(5))
        try await ServiceGroup(configuration: group).run()
    }
}

/// Tells where the server listens, then waits for the end with the others.
private struct Announcement: Service {
    let address: BoundAddress
    let announce: @Sendable (URL) -> Void

    func run() async throws {
        if let url = try? await cancelWhenGracefulShutdown({ try await address.get() }) { announce(url) }
        try? await gracefulShutdown()
    }
}
