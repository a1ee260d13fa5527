import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Testing

/// Runs an app on a free port for the duration of a closure.
/// - Parameter make: Creates the app, which must call back with its port.
func withApplication(
    log: CapturedLog = CapturedLog(),
    _ make: (Logger, @escaping @Sendable (Int) -> Void) async throws -> some ApplicationProtocol,
    _ body: (URL) async throws -> Void
) async throws {
    let (ports, port) = AsyncStream<Int>.makeStream()
    let application = try await make(log.logger) { port.yield($0) }
    let group = ServiceGroup(services: [application], logger: log.logger)
    try await withThrowingTaskGroup { tasks in
        tasks.addTask { try await group.run() }
        let bound = try #require(await ports.first { _ in true })
        try await body(try #require(URL(string: "http://127.0.0.1:\(bound)")))
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
    }
}
