import Foundation

/// The server is killed while emails are in flight: the next one sends them at once, and none is lost.
struct LeaseKill: Attack {
    static let name = "lease-kill"
    static let abstract = "Kill the server while emails are in flight."
    private let size: AttackSize

    init(size: AttackSize) {
        self.size = size
    }

    let settings: [String: String] = [:]

    func run(on server: AttackedServer, progress: AttackProgress) async throws -> AttackReport {
        var report = AttackReport()
        let rounds = size.pick(small: 1, full: 10)
        let mails = try await HoldingMailServer.start()
        defer { mails.stop() }
        // A lease of five minutes: longer than any wait here.
        let lines = ["EMAIL_HOST=127.0.0.1", "EMAIL_PORT=\(mails.port)", "EMAIL_TIMEOUT=300", "EMAIL_FROM=Ana <ana@example.com>"]
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: server.folder.appending(path: ".env"))
        try await server.restart()
        let accounts = try await server.people(8 * rounds)
        for round in 0..<rounds {
            progress("kill \(round + 1) of \(rounds)")
            mails.holds(true)
            let batch = accounts[8 * round..<8 * round + 8]
            for (number, email) in batch.enumerated() {
                _ = try await server.requestReset(email, from: ClientAddresses.network24(8 * round + number))
            }
            _ = try await server.wait { _ in mails.inHand > 0 }
            await server.stop(SIGKILL)
            mails.holds(false)
            try await server.start()
            let wait = try await server.wait { _ in batch.allSatisfy { mails.count($0) > 0 } }
            report.require("8 emails are sent after a kill", within: wait)
        }
        _ = try await server.wait { try await $0.queue() == "[]" }
        let counts = accounts.map { mails.count($0) }
        let (sent, most) = (counts.count { $0 > 0 }, counts.max() ?? 0)
        report.require("every email is sent", counted: "\(sent) of \(accounts.count)", sent == accounts.count)
        report.require("none is sent twice", counted: "at most \(most)", most == 1)
        return report
    }
}
