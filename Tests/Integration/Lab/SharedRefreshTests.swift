import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import ResilientHTTP
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct SharedRefreshTests {
    @Test("Reports one refresh and no reused token for fifty calls that share a refresh")
    func shared() async throws {
        let reply = try await lastReply(isShared: true)
        #expect(reply.refreshes == 1)
        #expect(reply.reuses == 0)
    }

    @Test("Detects fifty calls that each refresh for themselves")
    func unshared() async throws {
        let reply = try await lastReply(isShared: false)
        #expect(reply.refreshes == 1)
        #expect(try #require(reply.reuses) > 0)
    }

    /// Returns the lab's last response after fifty concurrent calls with an expired token.
    private func lastReply(isShared: Bool) async throws -> LabSuccess {
        try await withServer { server in
            let client = APIClient.patient(server.url)
            let session = LabClient(
                client: client,
                tokens: try await client.post(
                    "/dev/lab/token?expired=true&lifetime_ms=3600000&refresh_delay_ms=200",
                    [String: String]()
                ),
                isShared: isShared
            )
            await withTaskGroup(of: Void.self) { tasks in
                // A call that lost the race for the refresh token fails, as intended.
                for _ in 0..<50 { tasks.addTask { _ = try? await session.call() } }
            }
            return try await session.call()
        }
    }
}

/// A client of the lab's protected path whose calls share one refresh, or do not.
private actor LabClient {
    private let client: APIClient
    private let isShared: Bool
    private var tokens: LabTokens
    private var inFlight: Task<LabTokens, any Error>?

    init(client: APIClient, tokens: LabTokens, isShared: Bool) {
        self.client = client
        self.tokens = tokens
        self.isShared = isShared
    }

    func call() async throws -> LabSuccess {
        let used = tokens
        let first = await reply(to: used)
        guard case .failure(let error) = first, error.code == .authTokenExpired else { return try first.get() }
        if tokens == used || !isShared { tokens = try await refreshed(used) }
        return try await reply(to: tokens).get()
    }

    private func reply(to tokens: LabTokens) async -> Result<LabSuccess, APIError> {
        do throws(APIError) {
            return .success(
                try await client.get("/dev/lab/protected", headers: [.authorization: "Bearer \(tokens.accessToken)"])
            )
        } catch {
            return .failure(error)
        }
    }

    private func refreshed(_ tokens: LabTokens) async throws -> LabTokens {
        if isShared, let inFlight { return try await inFlight.value }
        let client = client
        let task = Task<LabTokens, any Error> {
            try await client.post("/dev/lab/token/refresh", LabRefresh(refreshToken: tokens.refreshToken))
        }
        inFlight = task
        return try await task.value
    }
}
