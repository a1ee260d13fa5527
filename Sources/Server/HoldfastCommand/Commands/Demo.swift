import AccountServer
import ArgumentParser
import Foundation
import Logging

/// `holdfast demo`: demonstrates all features on a temporary server.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Demonstrate all features on a temporary server.",
        discussion: """
            Starts a server on a free port with a new database, and calls the server with the client library over a real socket. The exit \
            code is 1 if a step has an unexpected result. The demo removes all its files at the end.

            With --cluster, the demo starts PostgreSQL, Redis and three servers. It kills, restarts and suspends them under load, and
            shows the effect on clients. PostgreSQL and Redis must be installed (Debian: postgresql and redis-server). The demo of a
            cluster takes about a minute.
            """
    )

    @Flag(help: "Demonstrate failures of a cluster.")
    var cluster = false

    /// The delay in seconds that the simulated overload requests. Tests use a longer one, because they run on busy machines.
    @Option(help: .hidden)
    var delay = 1

    /// Runs the demo of one server, or of a cluster.
    /// - Throws: `ExitCode` 1 if a step fails. If a signal ended the demo of a cluster, the exit code is 128 plus the number of the signal.
    func run() async throws {
        guard cluster else { return try await runServer() }
        do {
            try await DemoCluster.runStory()
        } catch let end as EndedBySignal {
            throw ExitCode(128 + end.signal)
        } catch {
            throw Terminal.failure("\nThe demo failed: \(error)")
        }
    }

    /// Runs the demo of one server in a temporary folder, which is removed at the end.
    private func runServer() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-demo-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = AccountServerConfiguration(port: 0, dataFolder: folder)
        configuration.environment = .development
        configuration.appName = "Holdfast Demo"
        configuration.mailPause = .milliseconds(10)...(.milliseconds(20))
        let logger = Logger.standard(level: .error)
        do {
            let server = try await HoldfastServer(configuration: configuration, logger: logger)
            try await withRunningServer(server, logger: logger) { url in
                Terminal.say("A server on \(url.absoluteString) with a new database.\n")
                let steps = try await DemoStory(url: url, printer: DemoPrinter(isColored: Terminal.isColored), delay: delay).run()
                try await OfflineScenario(steps: steps, in: folder).run()
            }
            Terminal.say("\nEvery step ended as it should.")
        } catch {
            throw Terminal.failure("\nThe demo failed: \(error)")
        }
    }
}
