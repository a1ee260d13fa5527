import AccountCore
import ErrorContract
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct MailCommandTests {
    /// Runs a closure with a folder that has a pending email, a claimed one, and a failed one.
    private func withQueue(_ body: (URL, Stores, [MailIntent.ID]) async throws -> Void) async throws {
        try await withFolder { folder in
            let stores = try Stores(folder.appending(path: "data"))
            let now = Date()
            // Half an hour must pass before the commands print another number of hours or find an ended lease.
            for (index, name) in ["waits", "taken", "failed"].enumerated() {
                try await stores.request("\(name)@example.com", at: now.addingTimeInterval(Double(index) - 10.5 * 3_600))
            }
            let leaseEnd = now.addingTimeInterval(4.5 * 3_600)
            let intents = try await stores.intents.claim(limit: 3, at: now, leaseEnd: leaseEnd)
            try await stores.intents.postpone(
                intents[0],
                leaseEnd: leaseEnd,
                until: now.addingTimeInterval(4.5 * 3_600),
                reason: "421 4.3.2 at RCPT TO"
            )
            try await stores.intents.abandon(
                intents[2],
                leaseEnd: leaseEnd,
                until: now.addingTimeInterval(9_000),
                reason: "550 5.1.1 at RCPT TO"
            )
            try await body(folder, stores, intents.map(\.id))
        }
    }

    @Test("The queue table shows the state of each email and no complete address")
    func table() async throws {
        try await withQueue { folder, _, ids in
            let run = try await Binary.run(["mail", "queue"], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            let lines = run.output.split(separator: "\n").map(String.init)
            #expect(lines.count == 4)
            #expect(lines[0].hasPrefix("ID        KIND            STATE    TRIES  NEXT TRY  AGE"))
            let head = ids.map { String($0.uuidString.lowercased().prefix(8)) }
            #expect(
                lines[1].wholeMatch(
                    of: try Regex(
                        "\(head[0])  password_reset  waiting  1      in 4 h    10 h  w\\*\\*\\*@example.com  421 4.3.2 at RCPT TO"
                    )
                ) != nil,
                "\(lines[1])"
            )
            #expect(lines[2].contains("taken    0      -") && lines[3].contains("failed   1      never"), "\(run.output)")
            #expect(!run.output.contains("waits@"))
        }
    }

    @Test("Prints the queue as JSON on demand")
    func json() async throws {
        try await withQueue { folder, _, ids in
            let run = try await Binary.run(["mail", "queue", "--json"], in: folder)
            let items = try #require(try JSONParser().parse(run.output.utf8.dropLast()).arrayValue)
            #expect(items.compactMap { $0.objectValue?["id"]?.stringValue } == ids.map { $0.uuidString.lowercased() })
            #expect(items.compactMap { $0.objectValue?["state"]?.stringValue } == ["waiting", "taken", "failed"])
            let names = items.first?.objectValue?.members.map(\.key)
            #expect(names == ["id", "kind", "state", "attempts", "next_try", "created_at", "age_seconds", "to", "reason"])
            #expect(items.last?.objectValue?["next_try"] == .null)
            #expect(!run.output.contains("waits@"))
        }
    }

    @Test("A retry makes pending emails due, --failed also failed ones, never claimed ones")
    func retry() async throws {
        try await withQueue { folder, stores, ids in
            let waiting = try await Binary.run(["mail", "retry"], in: folder)
            #expect(waiting.status == 0)
            #expect(waiting.output == "1 email is due now.\n")
            let failed = try await Binary.run(["mail", "retry", "--failed"], in: folder)
            #expect(failed.output == "1 email is due now.\n")
            let due = try await stores.intents.claim(limit: 9, at: Date(), leaseEnd: Date().addingTimeInterval(9))
            #expect(Set(due.map(\.id)) == [ids[0], ids[2]])
            #expect(try await Binary.run(["mail", "retry"], in: folder).output == "0 emails are due now.\n")
        }
    }

    @Test("Retries one email by the prefix of its id")
    func one() async throws {
        try await withQueue { folder, stores, ids in
            let id = ids[2].uuidString.lowercased()
            #expect(try await Binary.run(["mail", "retry", String(id.prefix(8))], in: folder).output == "1 email is due now.\n")
            #expect(try await stores.intents.mails(limit: 9).map(\.state) == [.waiting, .taken, .waiting])
            let taken = try await Binary.run(["mail", "retry", ids[1].uuidString], in: folder)
            #expect(taken.status == 1)
            #expect(taken.errors.contains("is in flight"))
        }
    }

    @Test("Reports impossible operations with the exit code of their kind")
    func refusals() async throws {
        try await withQueue { folder, _, _ in
            for (arguments, status, text) in [
                (["queue", "--data", "elsewhere"], 1, "There is no data in"),
                (["retry", "--data", "elsewhere"], 1, "There is no data in"),
                (["retry", "00000000"], 1, "There is no email 00000000"), (["retry", "xyz!"], 64, "is not an id"),
                (["retry", "abc"], 64, "is not an id"), (["queue", "--limit", "0"], 64, "--limit must be"),
            ] as [([String], Int32, String)] {
                let run = try await Binary.run(["mail"] + arguments, in: folder)
                #expect(run.status == status, "\(arguments)")
                #expect(run.errors.contains(text), "\(run.errors)")
            }
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "elsewhere").path))
        }
        try await withFolder { folder in
            _ = try Stores(folder.appending(path: "data"))
            let run = try await Binary.run(["mail", "queue"], in: folder)
            #expect(run.status == 0 && run.output.isEmpty)
            #expect(run.errors == "No emails are pending or failed.\n")
            #expect(try await Binary.run(["mail", "queue", "--json"], in: folder).output == "[]\n")
        }
    }
}
