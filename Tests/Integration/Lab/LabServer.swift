import ErrorLab
import Foundation
import HoldfastTesting
import Hummingbird
import Logging
import ServiceLifecycle

@testable import AccountServer
@testable import HoldfastCommand

/// A third-party server that mounts the lab: without middleware, at another path, and with a manual clock.
struct LabServer: Sendable {
    static let root = "/try/errors"

    let url: URL
    let clock: ManualClock

    /// Runs a server for the duration of a closure.
    /// - Parameter prefix: The path of the group that contains the lab.
    static func run(
        hosts: Set<String>? = nil,
        prefix: String = "",
        _ body: @escaping @Sendable (LabServer) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let router = Router(context: ErrorLabContext.self)
        let lab =
            if let hosts {
                try ErrorLabRoutes<ErrorLabContext>(root: root, hosts: hosts, clock: clock)
            } else {
                try ErrorLabRoutes<ErrorLabContext>(root: root, clock: clock)
            }
        lab.add(to: router.group(RouterPath(prefix)))
        let address = BoundAddress()
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port, let url = URL(string: "http://127.0.0.1:\(port)") { address.set(url) }
            },
            logger: CapturedLog().logger
        )
        let group = ServiceGroup(services: [application], logger: CapturedLog().logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let url = try await address.get()
            do {
                try await body(LabServer(url: url, clock: clock))
                await group.triggerGracefulShutdown()
            } catch {
                await group.triggerGracefulShutdown()
                throw error
            }
            try await tasks.waitForAll()
        }
    }

    /// Returns a response of the lab to a GET.
    func get(_ path: String, headers: [String] = []) async throws -> RawHTTP.Answer {
        try await RawHTTP.send("GET", Self.root + path, to: url, headers: headers)
    }
}
