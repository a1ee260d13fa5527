import Foundation

/// Junk sign-ins with one address each fill the table of `login-account`, while users of new networks sign in.
///
/// Before the defense existed, new keys of the full table shared one window: all 400 users were refused for 15 minutes, even
/// after a restart.
struct LoginAccountTable: Attack {
    static let name = "login-account-table"
    static let abstract = "Send junk sign-ins with 112,000 addresses from 1,900 networks, while users of new networks sign in."

    private let size: AttackSize

    init(size: AttackSize) {
        self.size = size
    }

    /// The quota and the duration of junk are those of the attack that showed the defect. An attempt counts for an hour, so that
    /// the first
    /// attempts still count at the end of the attack.
    var settings: [String: String] {
        var settings = ["LIMIT_LOGIN_ACCOUNT": "10/3600"]
        if size == .small { settings["LIMIT_MEMORY_MB"] = "1" }
        return settings
    }

    private var networks: Int { size.pick(small: 15, full: 1_900, tenfold: 19_000) }
    private var users: Int { size.pick(small: 10, full: 400) }
    /// One less than `login-ip` admits in a minute, at any rate.
    private static let perNetwork = 59

    func run(on server: AttackedServer, progress: AttackProgress) async throws -> AttackReport {
        var report = AttackReport()
        let emails = try await server.people(3 * users + 1)
        let victim = emails[3 * users]
        let statuses = try await guess(victim, on: server)
        report.require("The 11th guess is refused", counted: "\(statuses)", statuses == Self.refusedAfterTen)

        progress("\(networks * Self.perNetwork) junk sign-ins from \(networks) networks")
        async let meanwhile = signIn(emails[..<users], group: 1, on: server)
        let junk = try await server.tally(networks * Self.perNetwork, atOnce: 48) { number in
            // A network's attempts are sent one after another, each with another address.
            let (network, attempt) = (number / Self.perNetwork, number % Self.perNetwork)
            let client = "2001:db8:\(String(network % 65_536, radix: 16)):\(String(network / 65_536, radix: 16))::1"
            return try await server.signIn(
                "junk-\(network)-\(attempt)@example.net",
                password: "a wrong password",
                from: client,
                fields: ["X-Request-Timeout-Ms": "20"]
            ).status
        }
        report.note("junk sign-ins", junk)
        report.note("resident memory after the junk, MB", server.residentMemory >> 20)
        report.require("Users during the attack", served: try await meanwhile, percent: 99)
        progress("users from fresh networks")
        report.require(
            "Users after the attack",
            served: try await signIn(emails[users..<2 * users], group: 2, on: server),
            percent: 99
        )
        try await requireRefused(victim, "after the attack", on: server, &report)

        let start = ContinuousClock.now
        try await server.restart()
        report.note("restart", start.duration(to: .now))
        report.require(
            "Users after a restart",
            served: try await signIn(emails[2 * users..<3 * users], group: 3, on: server),
            percent: 99
        )
        try await requireRefused(victim, "after a restart", on: server, &report)
        return report
    }

    private static let refusedAfterTen = [Int](repeating: 401, count: 10) + [429]

    /// Guesses passwords until the limit of one client with one address refuses.
    private func guess(_ email: String, on server: AttackedServer) async throws -> [Int] {
        var statuses: [Int] = []
        for _ in 0..<11 {
            statuses.append(try await server.signIn(email, password: "a wrong password", from: "2001:db9:ffff::1").status)
        }
        return statuses
    }

    private func requireRefused(
        _ email: String,
        _ moment: String,
        on server: AttackedServer,
        _ report: inout AttackReport
    ) async throws {
        let status = try await server.signIn(email, password: "a wrong password", from: "2001:db9:ffff::1").status
        report.require("A client at its limit is not forgiven \(moment)", counted: "\(status)", status == 429)
    }

    /// Signs users in, each from a separate network, half of them by IPv4. Each retries like a client while the server is busy.
    private func signIn(_ emails: ArraySlice<String>, group: Int, on server: AttackedServer) async throws -> Tally {
        let emails = Array(emails)
        return try await server.tally(emails.count, atOnce: 4) { number in
            let network = group * 4_096 + number
            let client =
                number % 2 == 0
                ? "2001:db9:\(String(network, radix: 16))::1" : "100.\(network / 256).\(network % 256).7"
            return try await server.patientSignIn(emails[number], from: client).status
        }
    }
}
