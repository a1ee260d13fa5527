import AccountContract
import AccountCore
import ErrorContract
import Foundation
import HoldfastTesting
import RateLimiting
import Testing

@testable import SQLiteStores

@Suite struct LimitRestartTests {
    private let rules: [RateLimitRule] = [
        .rule("hour", 3, per: 3_600), .rule("paced", 100, per: 60, algorithm: .strictGCRA(burst: 10)),
    ]

    @Test("After a restart the remaining quota and its reset are exactly the same")
    func restart() async throws {
        try await withMachine { machine in
            try await {
                let process = try await machine.start(rules)
                for _ in 0..<2 { process.take("hour") }
                for _ in 0..<7 { process.take("paced") }
                try await process.close()
            }()
            machine.pass(.seconds(1))
            let process = try await machine.start(rules)
            #expect(process.left("hour") == 1)
            // One unit has returned after a second.
            #expect(process.left("paced") == 4)
            #expect(process.left("hour", "bea") == 3)
            machine.pass(.seconds(3_598))
            #expect(process.left("hour") == 1)
            machine.pass(.seconds(1))
            #expect(process.left("hour") == 3)
        }
    }

    @Test("A refund survives a restart, also of a saved charge")
    func refund() async throws {
        try await withMachine { machine in
            try await {
                let process = try await machine.start(rules)
                process.take("hour")
                machine.pass(.milliseconds(10))
                let charges = ["ana", "bea"].compactMap { process.charge("hour", $0) }
                #expect(charges.count == 2)
                try await process.save()
                process.refund(charges)
                try await process.close()
            }()
            #expect(try await machine.rows() == 1)
            let process = try await machine.start(rules)
            #expect(process.left("hour") == 2)
            #expect(process.left("hour", "bea") == 3)
        }
    }

    @Test("A kill -9 loses no usage and adds none, with or without a save before it", arguments: [false, true])
    func kill(savesBetween: Bool) async throws {
        try await withMachine { machine in
            try await {
                let process = try await machine.start(rules)
                process.take("hour")
                for _ in 0..<3 { process.take("paced") }
                machine.pass(.milliseconds(10))
                if savesBetween { try await process.save() }
                process.take("hour")
                for _ in 0..<4 { process.take("paced") }
                process.take("hour", "bea")
            }()
            machine.pass(.milliseconds(990))
            let process = try await machine.start(rules)
            #expect(process.left("hour") == 1)
            #expect(process.left("paced") == 4)
            #expect(process.left("hour", "bea") == 2)
            #expect(process.left("hour", "cia") == 3)
            #expect(process.take("hour"))
            #expect(!process.take("hour"))
        }
    }

    @Test("Consecutive kills lose no usage")
    func kills() async throws {
        try await withMachine { machine in
            for left in [2, 1, 0] {
                let process = try await machine.start(rules)
                process.take("hour")
                #expect(process.left("hour") == left)
            }
            for _ in 0..<3 {
                let process = try await machine.start(rules)
                #expect(!process.take("hour"))
            }
        }
    }

    @Test(
        "Within one boot no clock step changes usage, after a stop and after a kill",
        arguments: [Duration.seconds(86_400), .seconds(-86_400), .seconds(-1_800_000_000)],
        [false, true]
    )
    func clockSteps(step: Duration, isKill: Bool) async throws {
        try await withMachine { machine in
            try await {
                let process = try await machine.start(rules)
                process.take("hour")
                process.take("hour")
                for _ in 0..<10 { process.take("paced") }
                if !isKill { try await process.close() }
            }()
            machine.stepWallClock(by: step)
            machine.pass(.seconds(1))
            let process = try await machine.start(rules)
            #expect(process.left("hour") == 1)
            #expect(process.left("paced") == 1)
            machine.stepWallClock(by: step)
            try await process.save()
            machine.pass(.seconds(3_599))
            #expect(process.left("hour") == 3)
        }
    }

    @Test("After another boot the wall clock counts, unless it was set back")
    func reboot() async throws {
        for (step, left) in [(Duration.zero, 1), (.seconds(-3_000), 0)] {
            try await withMachine { machine in
                try await {
                    let process = try await machine.start(rules)
                    process.take("hour")
                    machine.pass(.seconds(3_000))
                    process.take("hour")
                    process.take("hour")
                    try await process.close()
                }()
                machine.stepWallClock(by: step)
                machine.reboot(after: .seconds(600))
                let process = try await machine.start(rules)
                #expect(process.left("hour") == left)
            }
        }
    }

    @Test(
        "After a machine crash the unknown time counts as used, for all keys",
        arguments: [true, false]
    )
    func machineCrash(tellsBoots: Bool) async throws {
        try await withMachine { machine in
            if !tellsBoots { machine.hideBoots() }
            try await {
                let process = try await machine.start(rules, committed: ["paced"])
                process.take("hour")
                process.take("paced")
                try await process.save()
            }()
            machine.reboot(after: .seconds(30))
            let process = try await machine.start(rules, committed: ["paced"])
            #expect(!process.take("hour"))
            #expect(!process.take("hour", "bea"))
            // No usage of this key can be missing.
            #expect(process.left("paced", "bea") == 10)
            machine.pass(.seconds(3_599))
            #expect(!process.take("hour", "bea"))
            machine.pass(.seconds(31))
            #expect(process.left("hour") == 3)
            #expect(process.left("hour", "bea") == 3)
        }
    }

    @Test("A machine that was down for longer than a window has no usage left")
    func longDowntime() async throws {
        try await withMachine { machine in
            try await {
                let process = try await machine.start(rules)
                process.take("hour")
                try await process.save()
            }()
            machine.reboot(after: .seconds(4_000))
            let process = try await machine.start(rules)
            #expect(process.left("hour") == 3)
            #expect(process.left("hour", "bea") == 3)
        }
    }

    @Test("A reset request's limits commit with its intent and survive a machine crash")
    func withIntent() async throws {
        try await withMachine { machine in
            let intents = SQLiteMailIntentQueue(machine.database)
            let email = try EmailAddress("ana@example.com")
            try await {
                let process = try await machine.start(rules, committed: ["hour"])
                for _ in 0..<3 {
                    let claims = [RateLimitClaim("hour", key: email.normalized)]
                    #expect(process.admit(claims).isAdmitted)
                    let intent = MailIntent(subject: .passwordReset(email), language: .english, createdAt: Date())
                    try await CommittedUsage.$current.withValue({ process.consumedQuota(of: claims) }) {
                        try await intents.enqueue(intent)
                    }
                }
            }()
            try FileManager.default.removeItem(at: machine.journal)
            machine.reboot()
            let process = try await machine.start(rules, committed: ["hour"])
            #expect(process.left("hour", email.normalized) == 0)
            #expect(process.left("hour", "bea@example.com") == 3)
            #expect(try await intents.count() == 3)
        }
    }

    @Test("A failed intent saves no limits")
    func failedIntent() async throws {
        try await withMachine { machine in
            let process = try await machine.start(rules)
            let intents = SQLiteMailIntentQueue(machine.database)
            let intent = MailIntent(
                subject: .passwordReset(try EmailAddress("ana@example.com")),
                language: .english,
                createdAt: Date()
            )
            process.take("hour")
            try await intents.enqueue(intent)
            await #expect(throws: StoreFailure.self) {
                try await CommittedUsage.$current.withValue({ process.consumedQuota(of: [RateLimitClaim("hour", key: "ana")]) }) {
                    try await intents.enqueue(intent)
                }
            }
            #expect(try await machine.rows() == 0)
        }
    }

    @Test("Usage saved by a request's own commit is not saved again until it changes")
    func keptOnce() async throws {
        try await withMachine { machine in
            let intents = SQLiteMailIntentQueue(machine.database)
            let process = try await machine.start(rules, committed: ["hour"])
            let email = try EmailAddress("ana@example.com")
            let claims = [RateLimitClaim("hour", key: email.normalized)]
            #expect(process.admit(claims).isAdmitted)
            let intent = MailIntent(subject: .passwordReset(email), language: .english, createdAt: Date())
            try await CommittedUsage.$current.withValue({ process.consumedQuota(of: claims) }) {
                try await intents.enqueue(intent)
            }
            let kept = try await machine.coverage()
            machine.pass(.seconds(1))
            try await process.save()
            #expect(try await machine.coverage() == kept)
            #expect(process.admit(claims).isAdmitted)
            try await process.save()
            #expect(try await machine.coverage() == kept.map { $0 + 1_000_000_000 })
        }
    }

    @Test("Usage in a failed commit is saved later with the rest")
    func failedCommit() async throws {
        try await withMachine { machine in
            let intents = SQLiteMailIntentQueue(machine.database)
            try await {
                let process = try await machine.start(rules, committed: ["hour"])
                let email = try EmailAddress("ana@example.com")
                let claims = [RateLimitClaim("hour", key: email.normalized)]
                #expect(process.admit(claims).isAdmitted)
                try await process.save()
                #expect(process.admit(claims).isAdmitted)
                try await machine.execute(
                    "CREATE TRIGGER full BEFORE INSERT ON rate_limit BEGIN SELECT RAISE(ROLLBACK, 'full'); END"
                )
                let intent = MailIntent(subject: .passwordReset(email), language: .english, createdAt: Date())
                await #expect(throws: StoreFailure.self) {
                    try await CommittedUsage.$current.withValue({ process.consumedQuota(of: claims) }) {
                        try await intents.enqueue(intent)
                    }
                }
                #expect(try await intents.count() == 0)
                try await machine.execute("DROP TRIGGER full")
                try await process.save()
            }()
            let process = try await machine.start(rules, committed: ["hour"])
            #expect(process.left("hour", "ana@example.com") == 1)
        }
    }

    @Test("Does not save usage that expires before another process could start", arguments: [(10, 0), (100, 1)])
    func shortDebt(requests: Int, rows: Int) async throws {
        try await withMachine { machine in
            let intents = SQLiteMailIntentQueue(machine.database)
            let email = try EmailAddress("ana@example.com")
            let claims = [RateLimitClaim("wide", key: email.normalized)]
            // Each has usage of a third of a millisecond.
            let process = try await machine.start([.rule("wide", 3_000, per: 1)], committed: ["wide"])
            for _ in 0..<requests {
                #expect(process.admit(claims).isAdmitted)
                let intent = MailIntent(subject: .passwordReset(email), language: .english, createdAt: Date())
                try await CommittedUsage.$current.withValue({ process.consumedQuota(of: claims) }) {
                    try await intents.enqueue(intent)
                }
            }
            #expect(try await machine.rows() == rows)
        }
    }
}
