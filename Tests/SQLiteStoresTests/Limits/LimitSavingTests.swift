import Foundation
import GRDB
import HoldfastTesting
import RateLimiting
import ServiceLifecycle
import Testing

@testable import SQLiteStores

@Suite struct LimitSavingTests {
    private let rules: [RateLimitRule] = [.rule("minute", 3, per: 60), .rule("hour", 2, per: 3_600)]

    @Test("The service saves within a second, and everything at its shutdown")
    func service() async throws {
        try await withMachine { machine in
            let process = try await machine.start(rules)
            let group = ServiceGroup(services: [process], logger: process.logger)
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                await machine.clock.waitForSleepers()
                process.take("hour")
                machine.pass(.milliseconds(500))
                await machine.clock.waitForSleepers()
                #expect(try await machine.rows() == 1)
                process.take("hour", "bea")
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
            #expect(try await machine.rows() == 2)
            #expect(try await isClean(machine))
        }
    }

    @Test("Removes rows without usage, and writes nothing while nothing changes")
    func sweep() async throws {
        try await withMachine { machine in
            let process = try await machine.start(rules)
            for number in 0..<3_000 { process.take("minute", "\(number)") }
            process.take("hour")
            try await process.save()
            #expect(try await machine.rows() == 3_001)
            let quiet = try await changes(machine)
            for _ in 0..<10 { try await process.save() }
            #expect(try await changes(machine) == quiet)
            machine.pass(.seconds(61))
            for number in 0..<4 {
                process.take("minute", "again \(number)")
                try await process.save()
            }
            #expect(try await machine.rows() == 5)
        }
    }

    @Test("Removes rows of another boot without usage at the start")
    func sweepOldBoot() async throws {
        try await withMachine { machine in
            try await {
                let process = try await machine.start(rules)
                for number in 0..<100 { process.take("minute", "\(number)") }
                process.take("hour")
                try await process.close()
            }()
            machine.reboot(after: .seconds(300))
            let process = try await machine.start(rules)
            #expect(try await machine.rows() == 1)
            #expect(process.left("hour") == 1)
        }
    }

    @Test("Saves failed rows the next time, and loses none in a kill between")
    func failure() async throws {
        try await withMachine { machine in
            try await {
                let process = try await machine.start(rules)
                try await machine.database.pool.write { try $0.execute(sql: "ALTER TABLE rate_limit RENAME TO elsewhere") }
                for _ in 0..<2 {
                    process.take("hour")
                    await #expect(throws: (any Error).self) { try await process.save() }
                }
                process.take("minute")
                try await machine.database.pool.write { try $0.execute(sql: "ALTER TABLE elsewhere RENAME TO rate_limit") }
            }()
            try await {
                let process = try await machine.start(rules)
                #expect(process.left("hour") == 0)
                #expect(process.left("minute") == 2)
                try await process.save()
            }()
            #expect(try await machine.rows() == 2)
        }
    }

    @Test("More admissions between saves than the journal holds count as used after a kill")
    func fullJournal() async throws {
        try await withMachine { machine in
            try await {
                let process = try await machine.start([.rule("minute", 3, per: 60)])
                for number in 0...JournalFile.capacity { process.take("minute", "\(number)") }
            }()
            machine.pass(.seconds(1))
            let process = try await machine.start([.rule("minute", 3, per: 60)])
            #expect(!process.take("minute", "nobody"))
            machine.pass(.seconds(62))
            #expect(process.take("minute", "nobody"))
        }
    }

    @Test("A truncated, removed or overwritten journal counts as used after a kill", arguments: 0..<3)
    func damagedJournal(kind: Int) async throws {
        try await withMachine { machine in
            try await {
                let process = try await machine.start(rules)
                process.take("hour")
            }()
            switch kind {
            case 0: try Data(repeating: 7, count: 100).write(to: machine.journal)
            case 1: try FileManager.default.removeItem(at: machine.journal)
            default: try Data(repeating: 0xA5, count: 2_000_000).write(to: machine.journal)
            }
            let process = try await machine.start(rules)
            #expect(!process.take("hour"))
            machine.pass(.seconds(3_600))
            #expect(process.take("hour"))
        }
    }

    @Test("An incomplete record ends its half of the journal and admits nothing")
    func tornNote() async throws {
        try await withMachine { machine in
            try await {
                let process = try await machine.start(rules)
                for _ in 0..<3 { process.take("minute") }
            }()
            let file = try FileHandle(forUpdating: machine.journal)
            // The middle of the third record in the first half.
            try file.seek(toOffset: 4_096 + 2 * 32 + 16)
            try file.write(contentsOf: [0xFF])
            try file.close()
            let process = try await machine.start(rules)
            #expect(process.left("minute") == 1)
        }
    }

    @Test("Only one process saves limits in a folder; a second one counts without saving")
    func twoProcesses() async throws {
        try await withMachine { machine in
            let first = try await machine.start(rules)
            first.take("hour")
            let second = try await machine.start(rules)
            #expect(second.left("hour") == 2)
            second.take("minute")
            #expect(second.consumedQuota(of: [RateLimitClaim("minute", key: "ana")]) == nil)
            try await second.close()
            #expect(try await machine.rows() == 0)
            #expect(try await !isClean(machine))
        }
    }

    @Test("Skips an unreadable row, and the server starts")
    func corruptRow() async throws {
        try await withMachine { machine in
            try await {
                let process = try await machine.start(rules)
                process.take("hour")
                process.take("minute")
                try await process.close()
            }()
            try await machine.database.pool.write {
                try $0.execute(sql: "UPDATE rate_limit SET owed = x'09' WHERE policy = 'hour'")
            }
            let process = try await machine.start(rules)
            #expect(process.left("minute") == 2)
            #expect(process.left("hour") == 2)
        }
    }

    @Test("Neither the table nor the journal contains parts of keys")
    func hygiene() async throws {
        try await withMachine { machine in
            let process = try await machine.start(rules)
            process.take("hour", "ana@example.com")
            try await process.save()
            process.take("minute", "ana@example.com")
            for name in try FileManager.default.contentsOfDirectory(atPath: machine.folder.path) {
                let bytes = try Data(contentsOf: machine.folder.appending(path: name))
                #expect(bytes.range(of: Data("ana@".utf8)) == nil, "\(name)")
            }
            let mode = try FileManager.default.attributesOfItem(atPath: machine.journal.path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
        }
    }

    private func isClean(_ machine: LimitedMachine) async throws -> Bool {
        try await machine.database.pool.read { try Bool.fetchOne($0, sql: "SELECT is_clean FROM rate_limit_process") ?? false }
    }

    private func changes(_ machine: LimitedMachine) async throws -> Int {
        try await machine.database.pool.write { $0.totalChangesCount }
    }
}
