import AccountContract
import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastURLSession
import ResilientHTTP
import Timekeeping

/// The cluster demo, which causes one failure after another under load.
struct ClusterStory: Sendable {
    /// The processes that the demo kills, restarts and suspends.
    let cluster: DemoCluster
    /// The simulated users who send requests during the failures.
    let load: DemoLoad
    /// Numbers and prints the steps.
    let steps: Steps
    /// The largest number of duplicates of an email. Each failure of a server or of the database can cause one duplicate.
    private static let interruptions = 3

    /// Creates the story of a cluster that is running.
    init(cluster: DemoCluster, printer: DemoPrinter) {
        self.cluster = cluster
        let load = DemoLoad(servers: cluster.servers)
        self.load = load
        steps = Steps(printer: printer) { "\(load.counts.acknowledged) requests acknowledged" }
    }

    /// Runs all steps.
    /// - Throws: ``DemoStory/Unexpected`` at the first step with an unexpected result.
    func run() async throws {
        try await oneAccount()
        try await load.run {
            try await killServer()
            try await restartDatabase()
            try await suspendDatabase()
            try await suspendRedis()
        }
        try await verify()
    }

    // MARK: - One account on three servers

    /// Returns a client of one server. Servers have the numbers from 1.
    private func client(_ number: Int, _ store: MemoryCredentialStore) -> AccountClient {
        AccountClient(api: APIClient(baseURL: cluster.servers[number - 1], transport: .urlSession()), store: store)
    }

    /// Uses one account on all servers, to show that they share accounts, sessions and links.
    private func oneAccount() async throws {
        let (email, password) = (try EmailAddress("ana@example.com"), try Password("first password of Ana"))
        let store = MemoryCredentialStore()
        try await steps.run("Register on server 1, sign in on server 2, refresh the session on server 3") {
            let registered = try await client(1, MemoryCredentialStore())
                .register(email: email, password: password, firstName: try FirstName("Ana"))
            let user = try await client(2, store).signIn(email: email, password: password)
            try await client(3, store).refresh()
            guard user == registered.user, try await client(1, store).me() == user else {
                throw DemoStory.Unexpected(description: "the servers return different accounts")
            }
            return "one account and one session; the access token is valid on each server"
        }
        try await steps.run("Request a password reset on server 1, confirm it on server 2") {
            let old = await store.load()
            _ = try await client(1, MemoryCredentialStore()).requestPasswordReset(email: email)
            var link: URL?
            let delivery = try await wait(120, "no email arrived") {
                link = try cluster.mailbox.link(to: email.text)
                return link != nil
            }
            guard let link else { throw DemoStory.Unexpected(description: "the email has no link") }
            let reset = try ResetLink(link, hosts: ["127.0.0.1"])
            let newPassword = try Password("second password of Ana")
            _ = try await client(2, MemoryCredentialStore()).confirmReset(reset, newPassword: newPassword)
            let end = try await wait(60, "an access token was not refused on all servers") {
                for number in 1...cluster.servers.count {
                    do throws(APIError) {
                        _ = try await client(number, MemoryCredentialStore(old)).me()
                        return false
                    } catch {
                        guard error.code == .authSessionExpired else { throw error }
                    }
                }
                return true
            }
            return "the email arrived after \(delivery.inSeconds); all servers refuse the old session after \(end.inSeconds)"
        }
    }

    // MARK: - Failures

    /// Kills one server, and requires that no acknowledged account or email is lost.
    private func killServer() async throws {
        // The demo waits here, so that the failure also interrupts the sending of emails.
        try await Task.sleep(for: .seconds(3))
        try await steps.run("Kill server 2 under load (kill -9)") {
            let (before, accounts) = (load.counts, load.accounts.count)
            await cluster.stop(.server(2), SIGKILL)
            let emails = Set(load.emails)
            let delivery = try await wait(180, "not all emails were delivered") {
                try emails.isSubset(of: cluster.mailbox.counts().keys)
            }
            try await Task.sleep(for: .seconds(2))
            return """
                \(try await summary(since: before, accounts: accounts)); \
                all emails requested before were delivered after \(delivery.inSeconds)
                """
        }
        try await steps.run("Start server 2 again") { "ready after \(try await cluster.start(.server(2)).inSeconds)" }
    }

    /// Restarts PostgreSQL, and requires that the servers serve again without a restart.
    private func restartDatabase() async throws {
        try await steps.run("Restart PostgreSQL under load") {
            let (before, accounts) = (load.counts, load.accounts.count)
            await cluster.stop(.postgres, SIGINT)
            // The pause is longer than the time for which a request waits for a database connection.
            try await Task.sleep(for: .seconds(6))
            try await cluster.start(.postgres)
            let back = try await waitForService()
            return "\(try await summary(since: before, accounts: accounts)); serving again \(back.inSeconds) after PostgreSQL"
        }
    }

    /// Suspends PostgreSQL, and requires that the servers report that they are not ready.
    private func suspendDatabase() async throws {
        try await steps.run("Suspend PostgreSQL under load for 12 s (SIGSTOP)") {
            let (before, accounts, start) = (load.counts, load.accounts.count, ContinuousClock.now)
            cluster.suspend(.postgres)
            defer { cluster.resume(.postgres) }
            let notReady = try await wait(60, "servers stayed ready") { await cluster.readyServers().isEmpty }
            try await Task.sleep(until: start + .seconds(12))
            cluster.resume(.postgres)
            let back = try await waitForService()
            return """
                \(try await summary(since: before, accounts: accounts)); \
                no server ready after \(notReady.inSeconds), serving again \(back.inSeconds) after PostgreSQL
                """
        }
    }

    /// Waits until all servers are ready and the load continues.
    private func waitForService() async throws -> Duration {
        let acknowledged = load.counts.acknowledged
        return try await wait(120, "the servers did not serve again") {
            guard load.counts.acknowledged > acknowledged else { return false }
            return await cluster.readyServers().count == cluster.servers.count
        }
    }

    /// Suspends and then kills Redis. Requires that the servers together admit at most the limit plus the shares. A share is the part of
    /// the limit that each server admits without Redis.
    private func suspendRedis() async throws {
        let attempts = 120
        var admitted = 0
        let share = cluster.servers.count * DemoCluster.quota * DemoCluster.share / 100
        try await steps.run("Suspend Redis under load (SIGSTOP), with \(attempts) requests of one client") {
            cluster.suspend(.redis)
            defer { cluster.resume(.redis) }
            let decisions = try await decisions(attempts)
            cluster.resume(.redis)
            try expect(decisions.admitted <= share, "\(decisions.admitted) were admitted, more than \(share)")
            admitted += decisions.admitted
            let back = try await wait(60, "the servers did not use Redis again") { await cluster.areLimitsShared() }
            return """
                \(decisions.admitted) of \(DemoCluster.quota) admitted (\(DemoCluster.share) % of the limit on each server); \
                slowest response \(decisions.slowest.inSeconds); limits shared again after \(back.inSeconds)
                """
        }
        try await steps.run("Kill Redis and start it without its data, with \(attempts) more requests") {
            await cluster.stop(.redis, SIGKILL)
            try await cluster.start(.redis)
            let back = try await wait(60, "the servers did not use Redis again") { await cluster.areLimitsShared() }
            let decisions = try await decisions(attempts)
            admitted += decisions.admitted
            // Redis has lost its counts. Each server therefore also checks its own counts of earlier requests.
            let most = DemoCluster.quota + share
            try expect(admitted <= most, "\(admitted) were admitted in all, more than \(most)")
            return """
                limits shared again after \(back.inSeconds); \(decisions.admitted) more admitted, \(admitted) in all; \
                slowest response \(decisions.slowest.inSeconds)
                """
        }
    }

    /// Validates an unknown link repeatedly, on each server in turn. Returns the number of admitted requests, and the longest response
    /// time.
    private func decisions(_ count: Int) async throws -> (admitted: Int, slowest: Duration) {
        let body = RequestBody(Array(#"{"token":"\#(String(repeating: "A", count: 43))"}"#.utf8), contentType: "application/json")
        var (admitted, slowest) = (0, Duration.zero)
        for number in 0..<count {
            let url = cluster.servers[number % cluster.servers.count]
            let api = APIClient(baseURL: url, transport: .urlSession(), middleware: [])
            let start = ContinuousClock.now
            do throws(APIError) {
                _ = try await api.send(.post, AccountPath.validateResetToken, body: body)
                admitted += 1
            } catch {
                switch error.code {
                case .authResetTokenInvalid: admitted += 1
                case .rateLimitExceeded: break
                default: throw error
                }
            }
            slowest = max(slowest, ContinuousClock.now - start)
        }
        return (admitted, slowest)
    }

    // MARK: - Numbers

    /// Checks the requests that the simulated users sent during a failure, and returns a summary of them.
    /// - Throws: ``DemoStory/Unexpected`` if an acknowledged account is missing, or if the status of a response was 500 or above. The
    ///   statuses 503 and 504 are allowed if the response has `Retry-After`.
    private func summary(since before: DemoLoad.Counts, accounts: Int) async throws -> String {
        let lost = try await load.lost(of: Array(load.accounts.dropFirst(accounts)))
        let counts = load.counts - before
        try expect(lost.isEmpty, "lost accounts: \(lost.joined(separator: ", "))")
        try expect(counts.errors == 0, "\(counts.errors) errors other than 503 and 504 with Retry-After")
        return """
            \(counts.acknowledged) requests acknowledged, 0 lost; \(counts.unavailable) refused with 503 or 504 and Retry-After, \
            \(counts.broken) connections lost, \(counts.repeated) attempts repeated
            """ + (counts.late == 0 ? "" : ", \(counts.late) registrations took effect after their 504")
                + (counts.pending == 0 ? "" : ", \(counts.pending) submitted again because an attempt was pending")
    }

    /// Signs in to all registered accounts, and counts the delivered emails.
    private func verify() async throws {
        try await steps.run("Sign in to each account that was registered") {
            let accounts = load.accounts
            let lost = try await load.lost(of: accounts)
            try expect(lost.isEmpty, "lost accounts: \(lost.joined(separator: ", "))")
            return "\(accounts.count) accounts, 0 lost"
        }
        try await steps.run("Count the emails") {
            let expected = Set(load.emails)
            // A server reserves an email before it sends the email. If the database did not respond then, other servers can't send the
            // email until the reservation (lease) ends.
            try await wait(180, "not all emails were delivered") { try expected.isSubset(of: cluster.mailbox.counts().keys) }
            let counts = try cluster.mailbox.counts().filter { expected.contains($0.key) }
            guard counts.values.allSatisfy({ $0 <= 1 + Self.interruptions }) else {
                throw DemoStory.Unexpected(description: "an email was delivered \(counts.values.max() ?? 0) times")
            }
            let duplicates = counts.values.reduce(0, +) - counts.count
            return "\(counts.count) requested, \(counts.count) delivered, \(duplicates) duplicates"
        }
    }
}

extension DemoCluster {
    /// Starts a cluster, runs its story, and stops the cluster, even if a signal ends the demo.
    /// - Throws: `DemoTools.Missing` if a program is not installed; ``EndedBySignal``; ``DemoStory/Unexpected``.
    static func runStory() async throws {
        try DemoTools.requireAll()
        let start = ContinuousClock.now
        let cluster = try DemoCluster()
        let printer = DemoPrinter(isColored: Terminal.isColored)
        let outcome: Result<Void, any Error>
        do {
            try await untilSignaled {
                try await cluster.start()
                let addresses = cluster.servers.map(\.absoluteString).joined(separator: ", ")
                Terminal.say("PostgreSQL, Redis and three servers: \(addresses)\n")
                try await ClusterStory(cluster: cluster, printer: printer).run()
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        printer.progress("stopping")
        await cluster.stop()
        try outcome.get()
        Terminal.say("\nEvery step ended as it should, after \((ContinuousClock.now - start).inSeconds).")
    }
}
