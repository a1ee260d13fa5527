import Foundation

/// Sends sign-ins whose deadline ends before the password is checked.
public struct TimeoutJunk: Attack {
    public static let name = "timeout-junk"
    public static let abstract = "Send sign-ins with a deadline of 20 ms, which end while the hash queue is long."

    public var settings: [String: String] { ["LIMIT_LOGIN_IP": "60/3600"] }
    private let size: AttackSize
    private let rounds: Int
    private let attempts = 50

    public init(size: AttackSize) {
        self.size = size
        rounds = size.pick(small: 1, full: 20)
    }

    public func run(on server: AttackedServer, progress: AttackProgress) async throws -> AttackReport {
        let people = try await server.people(rounds)
        var junk = Tally()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Other requests keep the queue long.
            for lane in 0..<40 {
                group.addTask {
                    var number = 0
                    while !Task.isCancelled {
                        let address = "lane-\(lane)-\(number)@example.com"
                        _ = try await server.signIn(address, from: ClientAddresses.network48(lane << 10 + number))
                        number += 1
                    }
                }
            }
            try await Task.sleep(for: .seconds(1))
            for (round, owner) in people.enumerated() {
                let client = ClientAddresses.network24(round)
                let statuses = try await server.tally(attempts, atOnce: 8) { _ in
                    try await server.signIn(owner, password: "junk", from: client, fields: ["X-Request-Timeout-Ms": "20"]).status
                }
                for (status, count) in statuses.statuses { for _ in 0..<count { junk.add(status) } }
                progress("junk: \(junk)")
            }
            group.cancelAll()
        }

        var (owners, left, charged) = (Tally(), 10, attempts)
        for (round, owner) in people.enumerated() {
            let response = try await server.patientSignIn(owner, from: ClientAddresses.network24(round))
            owners.add(response.status)
            left = min(left, remaining("login-account", in: response))
            charged = min(charged, 59 - remaining("login-ip", in: response))
        }
        var report = AttackReport()
        report.require("clients that sent junk sign in to the same accounts", served: owners, percent: 100)
        // A check that has begun when the deadline ends is charged. Because of the queue, few of them have.
        report.require("junk leaves login-account nearly untouched", counted: "at least \(left) of 10 left", left >= 5)
        // On a slow machine most deadlines end before the limits are checked. In that case the request has done nothing.
        let counted = "at least \(charged) of \(attempts)"
        if size == .small {
            report.note("charged to the client", counted)
        } else {
            report.require("most junk is charged to its client", counted: counted, charged * 2 > attempts)
        }
        report.note("junk", junk)
        return report
    }

    /// Returns the remaining quota of a limit in a response; -1 if it has none.
    private func remaining(_ limit: String, in response: AttackedServer.Response) -> Int {
        let items = (response.fields["ratelimit"] ?? "").matches(of: /"([a-z-]+)";r=(\d+)/)
        return items.first { $0.1 == limit }.flatMap { Int($0.2) } ?? -1
    }
}
