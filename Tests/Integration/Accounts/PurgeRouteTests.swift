import AccountContract
import AccountCore
import Email
import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct PurgeRouteTests {
    private static let password = #"{"password":"correct horse battery"}"#

    @Test("Without grace, a deletion removes account and emails in seconds and lists the id")
    func withoutGrace() async throws {
        try await withServer {
            $0.accountRules.deletionGraceDays = 0
        } _: { server in
            try await server.register("ana@example.com")
            _ = try await server.resetLink(for: "ana@example.com")
            let stores = server.server.accounts.stores
            let account = try #require(try await stores.accounts.account(email: try EmailAddress("ana@example.com")))
            let access = try await server.signIn("ana@example.com").access
            #expect(try await server.send("POST", AccountPath.deleteAccount, Self.password, bearer: access).status == 202)
            try await eventually { try await stores.accounts.account(id: account.id) == nil }
            try await eventually { try server.server.accounts.mailbox.mails().isEmpty }
            let list = stores.folder.purgeList.url
            try await eventually { (try? PurgeListFile.read(list).map(\.id)) == [account.id] }
            let mode = try FileManager.default.attributesOfItem(atPath: list.path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
            let register = #"{"email":"ana@example.com","password":"another horse battery","first_name":"Ana"}"#
            #expect(try await server.post(AccountPath.register, register).status == 201)
        }
    }

    @Test("Appends to a list, and refuses a line that is not a time and an id")
    func list() async throws {
        try await withFolder { folder in
            let list = PurgeListFile(folder.appending(path: PurgeListFile.name))
            let purges = (0..<3).map { index in
                ListedPurge(
                    id: Account.ID(rawValue: UUID()),
                    purgedAt: Date(timeIntervalSince1970: 1_750_000_000 + Double(index))
                )
            }
            try await list.append([purges[0]])
            try await list.append(Array(purges[1...]))
            #expect(try PurgeListFile.read(list.url) == purges)
            let text = try String(contentsOf: list.url, encoding: .utf8)
            #expect(text.hasPrefix("2025-06-15T15:06:40Z \(purges[0].id)\n"))
            try Data((text + "nonsense\n").utf8).write(to: list.url)
            #expect(throws: UnreadablePurgeList.self) { try PurgeListFile.read(list.url) }
        }
    }

    @Test("Reads a list whose lines end with CR LF")
    func carriageReturns() async throws {
        try await withFolder { folder in
            let list = PurgeListFile(folder.appending(path: PurgeListFile.name))
            let purges = (0..<3).map { index in
                ListedPurge(
                    id: Account.ID(rawValue: UUID()),
                    purgedAt: Date(timeIntervalSince1970: 1_750_000_000 + Double(index))
                )
            }
            // The server continues a list that another tool has converted.
            try Data(purges[..<2].map { $0.line + "\r\n" }.joined().utf8).write(to: list.url)
            try await list.append([purges[2]])
            #expect(try PurgeListFile.read(list.url) == purges)
        }
    }

    @Test("Appends after an incomplete line of an interrupted write")
    func interruptedAppend() async throws {
        try await withFolder { folder in
            let list = PurgeListFile(folder.appending(path: PurgeListFile.name))
            let purges = (0..<3).map { index in
                ListedPurge(
                    id: Account.ID(rawValue: UUID()),
                    purgedAt: Date(timeIntervalSince1970: 1_750_000_000 + Double(index))
                )
            }
            // The process ends in the middle of the first line, and later in the middle of the second line.
            try Data("2025-06-15T15:0".utf8).write(to: list.url)
            try await list.append([purges[0]])
            let first = try String(contentsOf: list.url, encoding: .utf8)
            try Data((first + String(purges[1].line.dropLast(5))).utf8).write(to: list.url)
            try await list.append([purges[1]])
            // The process ends between a complete line and its line break.
            let second = try String(contentsOf: list.url, encoding: .utf8)
            #expect(second == first + purges[1].line + "\n")
            try Data(second.dropLast().utf8).write(to: list.url)
            try await list.append([purges[2]])
            #expect(try PurgeListFile.read(list.url) == purges)
        }
    }
}
