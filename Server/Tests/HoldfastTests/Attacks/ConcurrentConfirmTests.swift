import AccountContract
import AccountKit
import ErrorContract
import FileMail
import Foundation
import Testing

@testable import holdfast

@Suite struct ConcurrentConfirmTests {
    @Test("Of 50 concurrent confirms of one token exactly one succeeds, with one confirmation mail, 20 rounds")
    func exactlyOneWins() async throws {
        try await withServer {
            $0.resetEmailLimit = nil
        } _: { server in
            try await server.register("ana@example.com")
            for round in 0..<20 {
                let link = try await server.resetLink(for: "ana@example.com")
                let mailsBefore = try server.server.mailbox.mails(limit: 1_000).count
                let outcomes = await withTaskGroup(of: String.self) { group in
                    for number in 0..<50 {
                        group.addTask { await outcome(of: link, password: "password \(round) of \(number)", on: server) }
                    }
                    return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
                }
                #expect(outcomes["success"] == 1, "round \(round): \(outcomes)")
                #expect(outcomes["AUTH_RESET_TOKEN_INVALID"] == 49, "round \(round): \(outcomes)")
                _ = try await server.mails(atLeast: mailsBefore + 1)
            }
            let updates = try server.server.mailbox.mails(limit: 1_000).count { $0.subject.hasPrefix("Password updated") }
            #expect(updates == 20)
        }
    }

    private func outcome(of link: ResetLink, password: String, on server: TestServer) async -> String {
        // The gate refuses what is more than it can queue; such a caller tries again.
        while true {
            do {
                _ = try await server.client().confirmReset(link, newPassword: try Password(password))
                return "success"
            } catch let error as APIError where error.code == .serverServiceUnavailable {
                await Task.yield()
            } catch {
                return (error as? APIError)?.code.rawValue ?? "\(error)"
            }
        }
    }
}
