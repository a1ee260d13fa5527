import AccountCore
import HTTPTypes
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// A server over a day, four months and a year in simulated time: it removes everything that it stores after a while.
@Suite(.timeLimit(.minutes(15))) struct LifetimeTests {
    /// The number of days after its last change that a row of each table may exist. An unlisted table is one whose lifetime was
    /// not considered.
    private static let days: [String: Int] = [
        "account": .max, "grdb_migrations": .max, "rate_limit_process": .max, "idempotency_pool": .max, "decoy_span": .max,
        "mail_retry": .max, "installation": .max, "steady_time": .max, "signing_key": .max,
        "account_device": .max, "purged_account": .max, "purge_event": .max,
        "reset_token": 1, "sent_reset": 1, "rate_limit": 1, "idempotency_key": 1, "idempotency_usage": 1, "mail_intent": 7,
        "freeze_token": 7, "account_link": 7, "former_address": 7,
        "session": 37, "refresh_token": 37, "audit_event": 365,
    ]
    /// Tables that stop growing within hours.
    private static let hourly = [
        "account", "reset_token", "rate_limit", "rate_limit_process", "idempotency_pool", "grdb_migrations", "decoy_span",
    ]

    @Test("In a year of traffic and outages no table or map grows, and all rows expire")
    func life() async throws {
        try await SimulatedServer.run { simulated in
            var traffic = try await SteadyTraffic(simulated)
            let tables = try await simulated.rows()
            #expect(Set(tables.keys) == Set(Self.days.keys), "a table without a lifetime")
            try await day(simulated, &traffic)
            try await months(simulated, &traffic)
            try await year(simulated, accounts: tables["account"])
        }
    }

    private func day(_ simulated: SimulatedServer, _ traffic: inout SteadyTraffic) async throws {
        var rows: [[String: Int]] = []
        var keys: [[String: Int]] = []
        for hour in 0..<24 {
            // Half an hour without a mailbox every six hours, and once for longer than the life of a link.
            let outage = [8, 9].contains(hour) ? 0..<12 : hour % 6 == 4 ? 0..<7 : 0..<0
            try await traffic.liveAnHour(outage: outage)
            rows.append(try await simulated.rows())
            keys.append(try simulated.limitedKeys)
            #expect(simulated.inHand == [0, 0, 0], "hour \(hour)")
            #expect(try await simulated.number("SELECT COUNT(*) FROM idempotency_key WHERE is_finished = 0") == 0)
            #expect(try await simulated.number("SELECT COUNT(*) FROM mail_intent WHERE state = 'taken'") == 0)
        }
        for table in Self.hourly { expectFlat(table, rows, from: 6..<12, to: 12..<24) }
        // Expired keys are removed when their part of the table is saved next. One flood leaves 20.
        for limit in keys[0].keys { expectFlat(limit, keys, from: 6..<12, to: 12..<24, slack: 16) }
        // The events of the day.
        for (what, count) in [
            "register 201": 6, "ask 200": 48, "repeat 200": 48, "reuse 422": 48, "flood 429": 24, "guess 401": 72,
            "confirm 200": 20,
            "confirm 400": 10, "freeze 200": 3, "refresh 200": 300, "me 200": 20, "sign out 204": 20, "mail 0": 20, "mail 1": 20,
        ] {
            #expect(traffic.answers[what] ?? 0 >= count, "\(what): \(traffic.answers)")
        }
        #expect(try await simulated.number("SELECT COUNT(*) FROM mail_intent WHERE state = 'failed'") > 0)
    }

    private func months(_ simulated: SimulatedServer, _ traffic: inout SteadyTraffic) async throws {
        var rows: [[String: Int]] = []
        for _ in 0..<120 {
            try await traffic.liveADay()
            rows.append(try await simulated.rows())
        }
        for (table, days) in Self.days where days < 100 {
            expectFlat(table, rows, from: (days + 1)..<(days + 13), to: (days + 13)..<120)
        }
        let most = "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM audit_event GROUP BY account_id, kind)"
        #expect(try await simulated.number(most) <= AuditRetention.perKind)
    }

    private func year(_ simulated: SimulatedServer, accounts: Int?) async throws {
        for _ in 0..<53 { await simulated.advance(minutes: 7 * 24 * 60) }
        // Usage of limits is removed at their next save.
        _ = try await simulated.memory.send(.post, "/api/request-password-reset/", #"{"email":"new@example.com"}"#)
        let swept = Self.days.filter { $0.value < .max && $0.key != "rate_limit" }.keys
        var rows: [String: Int] = [:]
        // On a busy machine the clock can be ahead of a sweep.
        for _ in 0..<10 {
            await simulated.advance(minutes: 61)
            rows = try await simulated.rows()
            if swept.allSatisfy({ rows[$0] == 0 }) { break }
        }
        #expect(rows["account"] == accounts)
        for table in swept { #expect(rows[table] == 0, "\(table)") }
        #expect(rows["rate_limit"] ?? 0 <= 3)
    }

    /// Traffic repeats every six rounds. A row that stays behind in each would add six or more.
    private func expectFlat(
        _ name: String,
        _ samples: [[String: Int]],
        from early: Range<Int>,
        to late: Range<Int>,
        slack: Int = 3
    ) {
        let (before, after) = (samples[early].map { $0[name] ?? 0 }, samples[late].map { $0[name] ?? 0 })
        #expect((after.max() ?? 0) <= (before.max() ?? 0) + slack, "\(name) grows: \(before), then \(after)")
    }
}
