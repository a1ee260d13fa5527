import AccountContract
import ErrorContract
import Foundation
import GRDB
import HoldfastTesting
import Testing

@testable import AccountServer
@testable import HoldfastCommand

extension ProvokedError {
    /// Too many requests, and failures of the server. The last ones leave its database broken.
    static let failures: [ProvokedError] = [
        ProvokedError(.rateLimitExceeded, "a fourth reset request within the hour") { provocation in
            let body = #"{"email":"limit-\#(provocation.mark)@example.com"}"#
            for _ in 0..<3 { #expect(try await provocation.send("POST", "/api/request-password-reset/", body).status == 200) }
            return try await provocation.send("POST", "/api/request-password-reset/", body)
        },
        ProvokedError(.serverInternalError, "a library that fails") { provocation in
            try await provocation.register(password: ScriptedHashing.failing)
        },
        ProvokedError(.serverTimeout, "a route that hangs") { provocation in
            let request = Task { try await provocation.register(password: ScriptedHashing.hanging) }
            // Its deadline must pass only after it hangs. Otherwise it would not hang, and its release would let the next one
            // pass.
            try await eventually { provocation.hashing.hangs > 0 }
            let response = try await provocation.moving(provocation.clocks.route) { try await request.value }
            provocation.hashing.release()
            try await eventually { provocation.hashing.hangs == 0 }
            return response
        },
        ProvokedError(.requestConflict, "a repetition of what is still worked on") { provocation in
            let email = "conflict-\(provocation.mark)@example.com"
            try await provocation.server.register(email)
            let token = try await provocation.server.resetLink(for: email).token.rawValue
            let body = #"{"token":"\#(token)","new_password":"\#(ScriptedHashing.hanging)"}"#
            let confirm = { @Sendable in
                try await provocation.send("POST", "/api/confirm-password-reset/", body, ["Idempotency-Key: \(provocation.mark)"])
            }
            async let first = confirm()
            try await eventually { provocation.hashing.hangs > 0 }
            let second = try await confirm()
            provocation.hashing.release()
            #expect(try await first.status == 200)
            #expect(try await confirm()["Idempotency-Replayed"] == "true")
            return second
        },
        ProvokedError(.serverDatabaseError, "a database that lost a table") { provocation in
            try provocation.breakDatabase()
            return try await provocation.send(
                "POST",
                "/api/auth/login",
                #"{"email":"a@example.com","password":"correct horse battery"}"#
            )
        },
        ProvokedError(.serverServiceUnavailable, "a database that does not answer") { provocation in
            try provocation.breakDatabase()
            return try await provocation.send("GET", "/health/ready")
        },
    ]
}

extension Provocation {
    fileprivate func register(password: String) async throws -> RawHTTP.Answer {
        let body = #"{"email":"new-\#(mark)@example.com","password":"\#(password)","first_name":"Ana"}"#
        return try await send("POST", "/api/auth/register", body)
    }

    /// Renames the table of accounts, like a failed restore would.
    fileprivate func breakDatabase() throws {
        let queue = try DatabaseQueue(beside: server.server)
        try queue.write { database in
            if try database.tableExists("account") { try database.execute(sql: "ALTER TABLE account RENAME TO lost") }
        }
        try queue.close()
    }
}
