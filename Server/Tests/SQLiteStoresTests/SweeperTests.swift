import AccountContract
import AccountCore
import Foundation
import HoldfastTesting
import InMemoryLogging
import Logging
import Testing

@testable import SQLiteStores

@Suite(.timeLimit(.minutes(1))) struct SweeperTests {
    @Test("The sweeper removes what has expired at once and then every five minutes, until it is stopped")
    func rounds() async throws {
        try await withStores { stores in
            let account = try await stores.addAccount()
            let wall = WallClock()
            let clock = ManualClock()
            let sweeper = Sweeper(
                sessions: stores.sessions,
                tokens: stores.tokens,
                freezeTokens: stores.freezeTokens,
                intents: stores.intents,
                rules: SessionRules(),
                clock: clock,
                now: wall.now,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            )
            let run = Task { try await sweeper.run() }
            await clock.waitForSleepers()
            for _ in 0..<3 {
                let token = try await stores.mint(for: account, after: wall.now().timeIntervalSince(.after(0)))
                let session = try await OpenedSession(stores, account: account)
                wall.advance(by: 38 * 86_400)
                #expect(try await session.isAlive)
                clock.advance(by: .seconds(299))
                #expect(try await stores.number("SELECT COUNT(*) FROM reset_token") == 1)
                clock.advance(by: .seconds(1))
                await clock.waitForSleepers()
                #expect(try await stores.number("SELECT COUNT(*) FROM reset_token") == 0)
                #expect(try await !session.isAlive)
                #expect(try await !stores.isLive(token))
            }
            run.cancel()
            try await run.value
        }
    }

    @Test("A sweep that fails is told of and tried again")
    func failure() async throws {
        try await withPostOffice { office async throws in
            let clock = ManualClock()
            let sweeper = Sweeper(
                sessions: office.stores.sessions,
                tokens: office.stores.tokens,
                freezeTokens: office.stores.freezeTokens,
                intents: office.stores.intents,
                rules: SessionRules(),
                clock: clock,
                now: office.clock.now,
                logger: office.logger
            )
            try await office.stores.execute("ALTER TABLE reset_token RENAME TO elsewhere")
            let run = Task { try await sweeper.run() }
            await clock.waitForSleepers()
            #expect(office.logs.entries.map(\.message) == ["Sweep failed"])
            try await office.stores.execute("ALTER TABLE elsewhere RENAME TO reset_token")
            clock.advance(by: .seconds(300))
            await clock.waitForSleepers()
            #expect(office.logs.entries.count == 1)
            run.cancel()
            try await run.value
        }
    }
}
