/// Very many reset requests for one account without limits of requests: its owner gets three emails an hour.
struct EmailBomb: Attack {
    static let name = "email-bomb"
    static let abstract = "Send 1,000 reset requests for one account, without limits of requests."
    private let size: AttackSize

    init(size: AttackSize) {
        self.size = size
    }

    let settings = ["LIMIT_RESET_EMAIL": "off", "LIMIT_RESET_IP": "off", "LIMIT_RESET_GLOBAL": "off"]

    func run(on server: AttackedServer, progress: AttackProgress) async throws -> AttackReport {
        var report = AttackReport()
        let accounts = try await server.people(2)
        let requests = size.pick(small: 100, full: 1_000, tenfold: 10_000)
        func bomb(_ round: Int) async throws -> Tally {
            try await server.tally(requests / 2, atOnce: 16) { number in
                try await server.requestReset(accounts[0], from: ClientAddresses.network24(round * requests + number))
            }
        }
        progress("\(requests) requests for one account, and a kill between")
        let first = try await bomb(0)
        await server.stop(9)
        try await server.start()
        let second = try await bomb(1)
        report.require("requesters see nothing of it", counted: "\(first); \(second)", first.served + second.served == requests)
        let other = try await server.requestReset(accounts[1], from: ClientAddresses.network48(1))
        report.require("the email queue is empty", within: try await server.wait { try await $0.queue() == "[]" })
        let recipients = try server.recipients()
        let bombed = recipients[accounts[0]] ?? 0
        // An email that was in flight at the kill may have been sent twice.
        report.require("the account gets three emails", counted: "\(bombed)", (3...4).contains(bombed))
        report.require("another account gets its email", counted: "\(other)", recipients[accounts[1]] == 1)
        return report
    }
}
