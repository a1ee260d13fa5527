import AccountCore
import Foundation
import MailServerTesting
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// An email in flight when its server is killed. Its lease lasts five minutes here, which no test waits for.
@Suite(.timeLimit(.minutes(15))) struct LeaseKillTests {
    private func request(_ email: String, of url: URL) async throws {
        let response = try await RawHTTP.send(
            "POST",
            "/api/request-password-reset/",
            to: url,
            headers: ["Content-Type: application/json"],
            body: Array(#"{"email":"\#(email)"}"#.utf8)
        )
        #expect(response.status == 200)
    }

    private func environment(_ mails: MailServer) -> [String: String] {
        [
            "ENVIRONMENT": "development", "EMAIL_HOST": "localhost", "EMAIL_PORT": "\(mails.port)", "EMAIL_TIMEOUT": "300",
            "EMAIL_FROM": "Crowns <crowns@example.com>",
        ]
    }

    /// Returns how many times the mail server has received the email of held@.
    private func held(_ mails: MailServer) throws -> Int { try mails.commands().count { $0 == "held" } }

    private func lockFiles(_ stores: Stores) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: stores.folder.serverLocks.path)
    }

    @Test("The next server sends an email that was in flight at a kill at once")
    func restart() async throws {
        try await MailServer.run { mails in
            try await withFolder { folder in
                let stores = try Stores(folder.appending(path: "data"))
                try await stores.addAccount("held@example.com")
                try await Binary.serve(environment: environment(mails), in: folder, endingWith: SIGKILL) { url, process in
                    try await request("held@example.com", of: url)
                    try await eventually { try held(mails) == 1 }
                }
                #expect(try await stores.intents.mails(limit: 9).map(\.state) == [.taken])
                let dead = try lockFiles(stores)
                #expect(dead.count == 1)
                try await Binary.serve(environment: environment(mails), in: folder, endingWith: SIGTERM) { url, _ in
                    try await eventually { try held(mails) == 2 }
                    #expect(try lockFiles(stores).count == 1)
                    #expect(try lockFiles(stores) != dead)
                    try mails.release()
                    try await eventually { try await stores.intents.count() == 0 }
                }
                #expect(try lockFiles(stores) == [])
                let recipients = try mails.received().map(\.recipients)
                #expect((1...2).contains(recipients.count) && Set(recipients) == [["held@example.com"]])
            }
        }
    }

    @Test("Takes over the email of another server only when that is killed")
    func shared() async throws {
        try await MailServer.run { mails in
            try await withFolder { folder in
                let stores = try Stores(folder.appending(path: "data"))
                for name in ["held", "ana", "bob"] { try await stores.addAccount("\(name)@example.com") }
                let (environment, options) = (environment(mails), ["--shared-data"])
                try await Binary.serve(environment: environment, options: options, in: folder, endingWith: SIGTERM) {
                    url,
                    first in
                    try await request("held@example.com", of: url)
                    try await eventually { try held(mails) == 1 }
                    try await Binary.serve(environment: environment, options: options, in: folder, endingWith: SIGTERM) {
                        url,
                        _ in
                        // Proof that the second server has read the queue several times.
                        for name in ["ana", "bob"] {
                            try await request("\(name)@example.com", of: url)
                            try await eventually { try mails.received().contains { $0.recipients == ["\(name)@example.com"] } }
                        }
                        #expect(try held(mails) == 1)
                        kill(first.processIdentifier, SIGKILL)
                        _ = await first.ended()
                        try await eventually { try held(mails) == 2 }
                        try mails.release()
                        try await eventually { try await stores.intents.count() == 0 }
                    }
                }
            }
        }
    }
}
