import AccountCore
import Foundation
import MailServerTesting
import TestSupport
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite(.timeLimit(.minutes(15))) struct MailShutdownTests {
    @Test("At SIGTERM the server refuses requests and waits for the email in flight")
    func inHand() async throws {
        try await MailServer.run { mails in
            try await withFolder { folder in
                let stores = try Stores(folder.appending(path: "data"))
                try await stores.addAccount("held@example.com")
                let environment = [
                    "ENVIRONMENT": "development", "EMAIL_HOST": "localhost", "EMAIL_PORT": "\(mails.port)",
                    "EMAIL_FROM": "Crowns <crowns@example.com>", "EMAIL_TIMEOUT": "300",
                ]
                try await Binary.serve(environment: environment, in: folder, endingWith: SIGTERM) { url, process in
                    let response = try await RawHTTP.send(
                        "POST",
                        "/api/request-password-reset/",
                        to: url,
                        headers: ["Content-Type: application/json"],
                        body: Array(#"{"email":"held@example.com"}"#.utf8)
                    )
                    #expect(response.status == 200)
                    try await eventually { try mails.commands().contains("held") }
                    kill(process.processIdentifier, SIGTERM)
                    try await eventually { (try? await RawHTTP.send("GET", "/health/live", to: url)) == nil }
                    #expect(process.isRunning)
                    #expect(try await stores.intents.mails(limit: 9).map(\.state) == [.taken])
                    try mails.release()
                    #expect(await process.ended() == 0)
                }
                #expect(try mails.received().map(\.recipients) == [["held@example.com"]])
                #expect(try await stores.intents.count() == 0)
            }
        }
    }
}
