import DataServerTesting
import Foundation
import StrictJSON
import Testing

@Suite(.timeLimit(.minutes(10))) struct ClusterVersionTests {
    @Test("A server keeps running after a newer version's migration; an old one can't start")
    func newerTables() async throws {
        let server = try await PostgresServer.shared()
        let database = try await server.createDatabaseName()
        try await Cluster.run(2, database: server.url(database)) { cluster in
            try cluster.kill(1)
            try await server.sql("INSERT INTO schema_step (name, made_at) VALUES ('of tomorrow', 0)", database: database)
            let failure = await #expect(throws: TestFailure.self) { try await cluster.start(1) }
            #expect(failure?.description.contains("newer version of holdfast") == true, "\(String(describing: failure))")
            let body = #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#
            #expect(try await post("/api/auth/register", body, to: cluster.urls[0]).status == 201)
            try cluster.kill(1)
        }
    }

    @Test("A password change at one server revokes the access tokens at all servers")
    func epochs() async throws {
        try await Cluster.run(2, database: try await PostgresServer.shared().createDatabase()) { cluster in
            let (here, there) = (cluster.urls[0], cluster.urls[1])
            let inbox = ClusterInbox(cluster.mails)
            let registration = #"{"email":"ana@example.com","password":"correct horse battery","first_name":"Ana"}"#
            let token = try #require(
                try await post("/api/auth/register", registration, to: here).json()["access_token"]?.stringValue
            )
            #expect(try await me(token, at: here) == 200)
            #expect(try await me(token, at: there) == 200)
            _ = try await post("/api/request-password-reset/", #"{"email":"ana@example.com"}"#, to: here)
            try await eventually { try await !inbox.mails(to: "ana@example.com").resets.isEmpty }
            let link = try #require(try await inbox.mails(to: "ana@example.com").resets.first)
            let confirm = #"{"token":"\#(link)","new_password":"another horse battery"}"#
            #expect(try await post("/api/confirm-password-reset/", confirm, to: there).status == 200)
            #expect(try await me(token, at: here) == 401)
            #expect(try await me(token, at: there) == 401)
        }
    }

    private func me(_ token: String, at url: URL) async throws -> Int {
        try await RawHTTP.send("GET", "/api/auth/me", to: url, headers: ["Authorization: Bearer \(token)"]).status
    }
}
