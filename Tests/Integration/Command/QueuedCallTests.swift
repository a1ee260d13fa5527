import Foundation
import HoldfastTesting
import OfflineQueue
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import HoldfastCommand

/// Runs `holdfast call --queue` as a process against a server that writes its responses byte by byte.
@Suite(.timeLimit(.minutes(10))) struct QueuedCallTests {
    @Test("Stores a request whose response is lost, and drains it with the same key")
    func lostResponse() async throws {
        try await LoopbackServer.run([.reset(""), .response("201 X", body: #"{"id":7}"#)]) { server, folder in
            let call = ["call", "--queue", "outbox", "POST", server.origin + "/orders", "-d", #"{"item":7}"#, "--retries", "0"]
            let stored = try await Binary.run(call, in: folder)
            #expect(stored.status == 5, "\(stored.output)\(stored.errors)")
            #expect(stored.output.contains(/stored as request \d+; 1 pending/))
            let drained = try await Binary.run(["call", "--queue", "outbox", "--drain"], in: folder)
            #expect(drained.status == 0, "\(drained.output)\(drained.errors)")
            #expect(drained.output.contains(/request \d+: delivered/))
            #expect(drained.output.contains("1 delivered, 0 dead letters, 0 pending"))
            let keys = server.received.map { $0.header("Idempotency-Key") }
            #expect(keys.count == 2 && keys[0] == keys[1] && keys[0] != nil)
            #expect(server.received.map(\.body) == [Array(#"{"item":7}"#.utf8), Array(#"{"item":7}"#.utf8)])
            #expect(server.received.last?.header("X-Queued-At") != nil)
            #expect(try await Binary.run(["call", "--queue", "outbox", "--drain"], in: folder).status == 0)
            #expect(server.received.count == 2)
        }
    }

    @Test("Stores a request while no server listens, and reports that it is still pending")
    func offline() async throws {
        try await withFolder { folder in
            let address = "http://127.0.0.1:\(try freePort())/a"
            let call = ["call", "--queue", "outbox", "PUT", address, "-d", "x", "--retries", "0"]
            #expect(try await Binary.run(call, in: folder).status == 5)
            let drained = try await Binary.run(["call", "--queue", "outbox", "--drain", "--retries", "0", "--json"], in: folder)
            #expect(drained.status == 5)
            let object = try #require(try JSONParser().parse(drained.output.utf8.dropLast()).objectValue)
            let events = try #require(object["events"]?.arrayValue).compactMap { $0.objectValue?["event"]?.stringValue }
            #expect(events == ["sending", "failed"])
            #expect(object["drained"] == ["delivered": 0, "dead_letters": 0, "pending": 1])
        }
    }

    @Test("Prints the response of a request that can be sent, and stores nothing")
    func online() async throws {
        try await LoopbackServer.run([.response("200 OK", ["Content-Type: text/plain"], body: "done")]) { server, folder in
            let run = try await Binary.run(["call", "--queue", "outbox", "POST", server.origin, "--key", "k7"], in: folder)
            #expect(run.status == 0, "\(run.output)\(run.errors)")
            #expect(run.output.contains("200, 4 bytes, text/plain\n\ndone"))
            #expect(server.received.first?.header("Idempotency-Key") == "\"k7\"")
            let drained = try await Binary.run(["call", "--queue", "outbox", "--drain"], in: folder)
            #expect(drained.status == 0, "\(drained.output)\(drained.errors)")
            #expect(drained.output.contains("0 delivered, 0 dead letters, 0 pending"), "\(drained.output)\(drained.errors)")
        }
    }

    @Test("Refuses to drain a folder without a queue, and creates none")
    func missingQueue() async throws {
        try await withFolder { folder in
            let run = try await Binary.run(["call", "--queue", "outbux", "--drain"], in: folder)
            #expect(run.status == 4 && run.output.isEmpty && run.errors.contains("specify its folder"), "\(run.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "outbux").path))
        }
    }

    @Test("Reports a dead letter with its code, and ends with 1")
    func deadLetter() async throws {
        let body = #"{"error":{"code":"VALIDATION_INVALID_INPUT","message":"Bad."}}"#
        try await LoopbackServer.run([.reset(""), .response("400 X", body: body)]) { server, folder in
            let call = ["call", "--queue", "outbox", "POST", server.origin, "-d", "x", "--retries", "0"]
            #expect(try await Binary.run(call, in: folder).status == 5)
            let drained = try await Binary.run(["call", "--queue", "outbox", "--drain"], in: folder)
            #expect(drained.status == 1)
            #expect(drained.output.contains(/request \d+: dead letter: refused, 400 VALIDATION_INVALID_INPUT/))
        }
    }

    @Test("Reports a journal that can't be written, with its path and exit code 4", arguments: [false, true])
    func unwrittenJournal(isDrain: Bool) throws {
        let failure = JournalFailure(path: "/outbox/journal", error: .storage(JournalError.full))
        let end: CallReport.End = isDrain ? .drained(delivered: 1, deadLetters: 1, pending: 1) : .delivered
        let report = CallReport(end, events: [], journalFailure: failure)
        #expect("\(report.exitCode)".contains("4"))
        let text = report.text(in: TextStyle(isColored: false, secret: nil))
        #expect(text.contains(isDrain ? "1 pending\nError: " : "is lost\nError: "), "\(text)")
        #expect(text.contains("Error: the journal /outbox/journal could not be written: the disk is full."), "\(text)")
        let object = try #require(report.json.objectValue)
        #expect(object[isDrain ? "drained" : "delivered"] != nil)
        let error = try #require(object["journal_error"]?.objectValue)
        #expect(error["code"]?.stringValue == "OFFLINE_QUEUE_UNAVAILABLE")
        #expect(error["message"]?.stringValue?.contains("/outbox/journal") == true)
    }

    @Test("Ends with 4 if a delivered request stays queued, and drains it with its key")
    func unwrittenDelivery() async throws {
        try await withFolder { folder in
            let lock = folder.appending(path: "outbox/lock")
            let isFirst = Mutex(true)
            let server = try LoopbackServer { _ in
                let breaksLock = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                if breaksLock {
                    // The command can't open a folder for writing, so it can't lock its journal.
                    try? FileManager.default.removeItem(at: lock)
                    try? FileManager.default.createDirectory(at: lock, withIntermediateDirectories: false)
                }
                return .response("201 X", body: #"{"id":7}"#)
            }
            let call = ["call", "--queue", "outbox", "POST", server.origin + "/orders", "-d", #"{"item":7}"#]
            let run = try await Binary.run(call, in: folder)
            #expect(run.status == 4, "\(run.output)\(run.errors)")
            #expect(run.output.contains(#"{"id":7}"#), "\(run.output)")
            #expect(run.output.contains("outbox/journal could not be written"), "\(run.output)")
            try FileManager.default.removeItem(at: lock)
            // The first command could not give up the role of the sender, so the others wait until the role expires.
            try await eventually { try await Binary.run(["call", "--queue", "outbox", "--drain"], in: folder).status == 0 }
            let keys = server.received.map { $0.header("Idempotency-Key") }
            #expect(keys.count == 2 && keys[0] == keys[1] && keys[0] != nil)
            await server.close()
        }
    }

    @Test("Stores no token, and sends a request only with a token of its account")
    func account() async throws {
        try await LoopbackServer.run([.reset(""), .response("200 X")]) { server, folder in
            let call = ["call", "--queue", "outbox", "POST", server.origin, "-d", "x", "--retries", "0", "--account", "ana"]
            let token = ["HOLDFAST_TOKEN": "secret-token-123"]
            #expect(try await Binary.run(call, environment: token, in: folder).status == 5)
            let journal = try Data(contentsOf: folder.appending(path: "outbox/journal"))
            #expect(journal.range(of: Data("secret-token".utf8)) == nil)

            let drain = ["call", "--queue", "outbox", "--drain"]
            let anonymous = try await Binary.run(drain, in: folder)
            #expect(anonymous.status == 5 && anonymous.output.contains("paused: it needs a token of its account"))
            let other = try await Binary.run(drain + [server.origin, "--account", "bea"], environment: token, in: folder)
            #expect(other.status == 5 && other.output.contains("paused: it belongs to another account"))
            #expect(server.received.count == 1)
            let same = try await Binary.run(drain + [server.origin, "--account", "ana"], environment: token, in: folder)
            #expect(same.status == 0, "\(same.output)\(same.errors)")
            #expect(server.received.map { $0.header("Authorization") } == ["Bearer secret-token-123", "Bearer secret-token-123"])
        }
    }

    @Test(
        "Refuses invalid usage of a queue with exit code 64",
        arguments: [
            ["--drain"], ["--account", "ana", "POST", "http://127.0.0.1/"], ["--queue", "q", "GET", "http://127.0.0.1/"],
            ["--queue", "q", "POST", "http://127.0.0.1/", "-H", "X-A: b"], ["--queue", "", "--drain"],
            ["--queue", "q", "POST", "http://127.0.0.1/", "--token", "t"], ["--queue", "q"],
            ["--queue", "q", "--drain", "--token", "t", "--account", "a"], ["--queue", "q", "--drain", "-d", "x"],
            ["--queue", "q", "--drain", "nonsense"],
        ]
    )
    func garbage(arguments: [String]) async throws {
        try await withFolder { folder in
            let run = try await Binary.run(["call"] + arguments, in: folder)
            #expect(run.status == 64, "\(run.output)\(run.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "q").path))
        }
    }
}
