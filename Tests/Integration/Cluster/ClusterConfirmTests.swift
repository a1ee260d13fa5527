import DataServerTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(120))) struct ClusterConfirmTests {
    @Test("One of 50 concurrent confirms at three servers succeeds, with one email")
    func exactlyOneWins() async throws {
        try await Cluster.run(database: try await PostgresServer.shared().createDatabase()) { cluster in
            let inbox = ClusterInbox(cluster.mails)
            let address = "ana@example.com"
            let registration = #"{"email":"\#(address)","password":"correct horse battery","first_name":"Ana"}"#
            #expect(try await post("/api/auth/register", registration, to: cluster.urls[0]).status == 201)
            for round in 0..<rounds(3) {
                let before = try await inbox.mails(to: address)
                let server = cluster.urls[round % cluster.count]
                #expect(try await post("/api/request-password-reset/", #"{"email":"\#(address)"}"#, to: server).status == 200)
                try await eventually { try await inbox.mails(to: address).resets.count > before.resets.count }
                let token = try #require(try await inbox.mails(to: address).resets.last)
                let outcomes = await outcomes(of: token, round, at: cluster.urls)
                #expect(outcomes == ["success": 1, "AUTH_RESET_TOKEN_INVALID": 49], "round \(round)")
                try await eventually { try await inbox.mails(to: address).updates > before.updates }
                // If an earlier round had caused a second email, it would have arrived by now.
                #expect(try await inbox.mails(to: address).updates <= round + 1 + cluster.releasedEmails)
            }
        }
    }

    /// Returns the number of each outcome.
    private func outcomes(of token: String, _ round: Int, at urls: [URL]) async -> [String: Int] {
        await withTaskGroup(of: String.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let body = #"{"token":"\#(token)","new_password":"password \#(round) of \#(number)"}"#
                    return await outcome(of: body, at: urls[number % urls.count])
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    private func outcome(of body: String, at url: URL) async -> String {
        while true {
            do {
                let response = try await post("/api/confirm-password-reset/", body, to: url)
                // The gate of the passwords refuses callers past its queue's limit. Such a caller tries again, and leaves the processor
                // to the servers.
                guard [503, 504].contains(response.status) else { return response["X-Error-Code"] ?? "success" }
                try await Task.sleep(for: .milliseconds(20))
            } catch {
                return "\(error)"
            }
        }
    }
}

/// Posts JSON.
func post(_ path: String, _ body: String, to url: URL) async throws -> RawHTTP.Answer {
    try await RawHTTP.send("POST", path, to: url, headers: ["Content-Type: application/json"], body: Array(body.utf8))
}
