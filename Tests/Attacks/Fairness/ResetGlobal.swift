/// One /56 network exhausts the overall limit of reset requests; users of other networks still get their links.
struct ResetGlobal: Attack {
    static let name = "reset-global"
    static let abstract = "Exhaust the overall limit with reset requests from 256 /64 networks of one /56."
    private let size: AttackSize

    init(size: AttackSize) {
        self.size = size
    }

    private var quota: Int { size.pick(small: 60, full: 600) }
    private var window: Duration { .seconds(size.pick(small: 6, full: 60)) }

    /// The small size sends emails at the same rate, with a tenth of the number.
    var settings: [String: String] { size == .small ? ["LIMIT_RESET_GLOBAL": "60/6"] : [:] }

    func run(on server: AttackedServer, progress: AttackProgress) async throws -> AttackReport {
        var report = AttackReport()
        let targets = try await server.people(size.pick(small: 200, full: 2_000, tenfold: 10_000))
        let users = try await server.people(60)
        let flood = size.pick(small: 300, full: 3_000, tenfold: 30_000)
        progress("\(flood) requests from one /56")
        let begin = ContinuousClock.now
        async let attacks = server.tally(flood, atOnce: 16) { number in
            try await server.requestReset(
                targets[number % targets.count],
                from: "2001:db8:1:\(String(number % 256, radix: 16))::\(String(number / 256 + 1, radix: 16))"
            )
        }
        // The users make requests during the attack and after it.
        let during = try await server.tally(30, atOnce: 1) { number in
            try await server.requestReset(users[number], from: ClientAddresses.network24(number))
        }
        let attacked = try await attacks
        let windows = Int((ContinuousClock.now - begin) / window) + 1
        let after = try await server.tally(30, atOnce: 4) { number in
            try await server.requestReset(users[30 + number], from: ClientAddresses.network48(1_000 + number))
        }
        report.require("users of other networks during the attack", served: during, percent: 99)
        report.require("users of other networks after the attack", served: after, percent: 99)
        // Most requests, except if the attack takes so long that it may use several windows. In each, the fair share adds up to a quota.
        let most = max(attacked.total / 2, 2 * quota * windows)
        report.require("the attack is refused", counted: "\(attacked)", attacked.total - attacked[429] < most)
        progress("waiting for emails")
        let wait = try await server.wait { server in
            let recipients = try server.recipients()
            return users.allSatisfy { recipients[$0] == 1 }
        }
        report.require("each of 60 users gets an email", within: wait)
        report.note("requests of the attack", attacked)
        return report
    }
}
