import CoreMetrics
import DataServerTesting
import Dispatch
import Foundation
import Logging
import Testing
import Timekeeping

@testable import PostgresDriver

@Suite(.timeLimit(.minutes(5))) struct NameResolutionTests {
    @Test("Ignores the addresses of a host that arrive while another host is resolved")
    func lateAddresses() async throws {
        let server = try await PostgresServer.shared()
        // No server listens on port 1.
        let url = "postgres://app@localhost:1,localhost:\(server.port)/postgres"
        // The first message ends the attempt with the first host. The second one arrives while the second host is resolved.
        let outcome = try await outcome(url, within: .seconds(60), emptyAddressesOfFirstHost: 2) { HostAddresses.resolve($0) }
        guard case .done(_, let connection, _) = outcome else {
            Issue.record("The job failed: \(outcome)")
            return
        }
        #expect(connection == 1, "the first connection has reached the second host")
    }

    @Test("A lookup that hangs doesn't delay the lookup of another host")
    func hangingLookup() async throws {
        let server = try await PostgresServer.shared()
        let end = DispatchSemaphore(value: 0)
        defer { end.signal() }
        let url = "postgres://app@hangs.invalid,localhost:\(server.port)/postgres"
        // The message ends the attempt with the first host, as the deadline of the attempt would.
        let outcome = try await outcome(url, within: .seconds(60), emptyAddressesOfFirstHost: 1) { name in
            guard name == "hangs.invalid" else { return HostAddresses.resolve(name) }
            end.wait()
            end.signal()
            return []
        }
        guard case .done(_, let connection, _) = outcome else {
            Issue.record("The job failed: \(outcome)")
            return
        }
        #expect(connection == 1, "the first connection has reached the second host")
    }

    /// Returns the outcome of a job of a loop.
    /// - Parameters:
    ///   - url: The hosts.
    ///   - limit: The longest time to wait for a connection.
    ///   - count: The number of messages without addresses that arrive for the first host after the job.
    ///   - resolve: Returns the addresses of a name.
    private func outcome(
        _ url: String,
        within limit: Duration,
        emptyAddressesOfFirstHost count: Int,
        resolve: @escaping @Sendable (String) -> [String]
    ) async throws -> DriverOutcome {
        var settings = try PostgresSettings(url: url)
        settings.connectTimeout = .seconds(60)
        let mailbox = Mailbox<Driver.Message>()
        let clock = MonotonicClock.continuous
        let thread = Thread { [settings] in
            DriverLoop(
                settings: settings,
                mailbox: mailbox,
                clock: clock,
                shared: DriverStatus(),
                logger: Logger(label: "test"),
                metrics: PostgresMetrics(factory: NOOPMetricsHandler.instance),
                resolve: resolve
            ).run()
        }
        thread.start()
        defer { _ = mailbox.post(.close(nil)) }
        return await withCheckedContinuation { continuation in
            let job = DriverJob(
                id: 1,
                segment: .single("SELECT 1", []),
                connection: nil,
                keepsConnection: false,
                acquireDeadline: clock.now + limit,
                start: clock.now,
                cancellation: DriverCancellation(),
                continuation: continuation
            )
            _ = mailbox.post(.run(job))
            for _ in 0..<count { _ = mailbox.post(.resolved(1, host: 0, addresses: [])) }
        }
    }
}
