import CoreMetrics
import DataServerTesting
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
        var settings = try PostgresSettings(url: "postgres://app@localhost:1,localhost:\(server.port)/postgres")
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
                metrics: PostgresMetrics(factory: NOOPMetricsHandler.instance)
            ).run()
        }
        thread.start()
        let outcome: DriverOutcome = await withCheckedContinuation { continuation in
            let job = DriverJob(
                id: 1,
                segment: .single("SELECT 1", []),
                connection: nil,
                keepsConnection: false,
                acquireDeadline: clock.now + .seconds(60),
                start: clock.now,
                cancellation: DriverCancellation(),
                continuation: continuation
            )
            _ = mailbox.post(.run(job))
            // The first message ends the attempt with the first host. The second one arrives while the second host is resolved.
            for _ in 0..<2 { _ = mailbox.post(.resolved(1, host: 0, addresses: [])) }
        }
        _ = mailbox.post(.close(nil))
        guard case .done(_, let connection, _) = outcome else {
            Issue.record("The job failed: \(outcome)")
            return
        }
        #expect(connection == 1, "the first connection has reached the second host")
    }
}
