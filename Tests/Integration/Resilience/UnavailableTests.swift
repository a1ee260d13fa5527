import AccountCore
import ErrorContract
import Foundation
import GRDB
import HoldfastTesting
import Hummingbird
import ServerMiddleware
import Testing
import Timekeeping

@testable import AccountRoutes
@testable import AccountServer
@testable import HoldfastCommand

/// Every 503 has a Retry-After.
@Suite(.timeLimit(.minutes(15))) struct UnavailableTests {
    private func expectWait(_ response: RawHTTP.Answer, in range: ClosedRange<Int>, _ cause: Comment) {
        #expect(response.status == 503, cause)
        #expect(response["X-Error-Code"] == "SERVER_SERVICE_UNAVAILABLE", cause)
        #expect(response["Retry-After"].flatMap { Int($0) }.map(range.contains) == true, cause)
    }

    private func register(_ server: TestServer, _ name: String, _ password: String) async throws -> RawHTTP.Answer {
        let body = #"{"email":"\#(name)@example.com","password":"\#(password)","first_name":"Ana"}"#
        return try await server.post("/api/auth/register", body)
    }

    @Test("Refuses requests past the maximum in flight, but not health checks")
    func shed() async throws {
        let hashing = ScriptedHashing()
        try await withServer(hashing: hashing) {
            $0.load.requestsInFlight = 1
            $0.load.requestsWaiting = 0
        } _: { server in
            async let first = register(server, "ana", ScriptedHashing.hanging)
            try await eventually { hashing.hangs > 0 }
            for path in ["/api/auth/me", "/docs", "/reset-password"] {
                // While no request ends, the measured rate falls with time, so the delay grows.
                expectWait(try await RawHTTP.send("GET", path, to: server.url), in: 1...60, "\(path)")
            }
            for path in ["/health/live", "/health/ready"] {
                #expect(try await RawHTTP.send("GET", path, to: server.url).status == 200)
            }
            hashing.release()
            #expect(try await first.status == 201)
            #expect(try await RawHTTP.send("GET", "/docs", to: server.url).status == 200)
        }
    }

    @Test("A readiness check that hangs fails after 2 s")
    func hangingCheck() async throws {
        let clock = ManualClock()
        let hanging = Readiness.Check("database") { try await Task.sleep(for: .seconds(86_400)) }
        let readiness = Readiness(checks: [hanging], clock: MonotonicClock(clock))
        async let failure = readiness.failure()
        await clock.waitForSleepers()
        clock.advance(by: .seconds(2))
        let (check, error) = try #require(await failure)
        #expect(check == "database" && (error as? ContractError)?.code == .serverTimeout)
    }

    @Test("Refuses a request that waits too long for capacity")
    func late() async throws {
        let hashing = ScriptedHashing()
        try await withServer(hashing: hashing) {
            $0.load.requestsInFlight = 1
            $0.load.requestsWaiting = 1
        } _: { server in
            async let first = register(server, "ana", ScriptedHashing.hanging)
            try await eventually { hashing.hangs > 0 }
            expectWait(try await RawHTTP.send("GET", "/docs", to: server.url), in: 1...60, "waited")
            hashing.release()
            _ = try await first
        }
    }

    @Test("Refuses a hash when too many are queued")
    func hashing() async throws {
        let hashing = ScriptedHashing()
        try await withServer(hashing: hashing) { server in
            let cores = ProcessorCount.available
            try await withThrowingTaskGroup(of: RawHTTP.Answer.self) { group in
                // A network has half of the 64 places in the queue.
                for number in 0..<(cores + 33) {
                    group.addTask { try await register(server, "ana-\(number)", ScriptedHashing.hanging) }
                }
                let refused = try #require(try await group.next())
                expectWait(refused, in: 1...60, "hashing")
                for _ in 0..<(cores + 32) { hashing.release() }
                // The queue gets shorter, because no hash takes long.
                for try await response in group where response.status != 201 { expectWait(response, in: 1...60, "hashing") }
            }
        }
    }

    @Test("An unconfirmed commit is a timeout, and a busy database a 503 safe to retry")
    func unknownOutcome() {
        let unknown = ContractError(StoreFailure(isBusy: true, isOutcomeUnknown: true, message: "lost"))
        #expect(unknown.code == .serverTimeout && unknown.retryAfter == .seconds(1))
        let busy = ContractError(StoreFailure(isBusy: true, message: "busy"))
        #expect(busy.code == .serverServiceUnavailable && busy.retryAfter == .seconds(1))
    }

    @Test("Returns 503 while the database is busy or lacks a table", .readsDatabaseFile)
    func database() async throws {
        try await withServer { server in
            let queue = try DatabaseQueue(beside: server.server)
            try await queue.write { try $0.execute(sql: "ALTER TABLE idempotency_key RENAME TO lost_keys") }
            let logout = #"{"refresh_token":"x"}"#
            let keyed = try await server.post("/api/auth/logout", logout, headers: ["Idempotency-Key: a"])
            expectWait(keyed, in: 1...5, "keys")
            #expect(try await server.post("/api/auth/logout", logout).status == 204)
            try await queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            expectWait(try await server.post("/api/auth/logout", logout), in: 1...5, "busy")
            try await queue.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            try await queue.write { try $0.execute(sql: "ALTER TABLE account RENAME TO lost") }
            expectWait(try await RawHTTP.send("GET", "/health/ready", to: server.url), in: 1...5, "health")
            try queue.close()
        }
    }

    @Test("Returns 503 for every such error that another app's route throws", arguments: ["service", "maintenance", "framework"])
    func thrown(kind: String) async throws {
        let router = ContractRouter(context: BasicContractContext.self)
        router.get("/") { _, _ -> Response in
            switch kind {
            case "service": throw ContractError(.serverServiceUnavailable)
            case "maintenance": throw ContractError(.serverMaintenance)
            default: throw HTTPError(.serviceUnavailable)
            }
        }
        try await withApplication { logger, listening in
            Application(
                router: router,
                server: .contractHTTP1(),
                configuration: .init(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { listening($0.localAddress?.port ?? 0) },
                logger: logger
            )
        } _: { url in
            let response = try await RawHTTP.send("GET", "/", to: url)
            #expect(response.status == 503 && response["Retry-After"] == "5")
        }
    }
}
