import AccountCore
import AccountRoutes
import Foundation
package import Observability
import RateLimiting
import ServerMiddleware

extension AccountServer {
    /// Returns the current values of this server's gauges, such as the number of pending emails. The method runs the readiness checks and
    /// reads the queue of emails, which takes some round trips to the database.
    ///
    /// The route `/metrics` calls this method for each scrape. The values are not stored between calls.
    package func readings() async -> [PrometheusReading] {
        var readings: [PrometheusReading] = []
        func add(_ name: String, _ help: String, _ value: Double, labels: [(String, String)] = []) {
            readings.append(PrometheusReading(name, .gauge, help, value, labels: labels))
        }
        add("holdfast_build_info", "The version that runs.", 1, labels: [("version", Self.version)])
        add("holdfast_hashing_queue_length", "Passwords waiting to be hashed.", Double(gate.queueLength))
        add("holdfast_hashing_rate", "Hashes per second while all cores hash, measured recently.", gate.rate)
        let load = shedding.load
        add("holdfast_requests_running", "Requests being processed, at most REQUESTS_IN_FLIGHT.", Double(load.running))
        add("holdfast_requests_waiting", "Requests waiting to be processed.", Double(load.waiting))
        for (file, path) in stores.files {
            guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber else { continue }
            add("holdfast_database_bytes", "Sizes of the database files.", size.doubleValue, labels: [("file", file)])
        }
        if let usage = limitStore.usage { readings += Self.readings(of: usage) }
        let isReady = await readiness.failure() == nil
        add("holdfast_ready", "1 if the server is ready, as /health/ready reports; otherwise 0.", isReady ? 1 : 0)
        // If the number of emails can't be read, the result omits this gauge, because an old value would hide the problem. If the server
        // isn't ready, the method doesn't read the number, because reading could take too long.
        if isReady, let count = try? await stores.intents.count() {
            add("holdfast_mail_queue_length", "Emails to be sent or retried.", Double(count))
        }
        let now = steady.now()
        if isReady, let oldest = try? await stores.intents.oldest(at: now) ?? now {
            let age = max(0, now.timeIntervalSince(oldest))
            add("holdfast_mail_oldest_seconds", "The age of the oldest email that is due; 0 if none is.", age)
        }
        return readings
    }

    /// Returns the gauges for the memory that the rate limits use, and for the number of their keys by policy.
    /// - Parameter limits: The memory and the numbers of keys, as the store of limits reports them.
    private static func readings(of limits: RateLimitUsage) -> [PrometheusReading] {
        var readings = [
            PrometheusReading(
                "holdfast_rate_limit_memory_limit_bytes",
                .gauge,
                "The most memory that the keys of all limits may use.",
                Double(limits.limit)
            )
        ]
        for table in limits.tables {
            let labels = [("policy", table.policy)]
            func add(_ name: String, _ kind: PrometheusKind, _ text: String, _ value: Int) {
                readings.append(.init("holdfast_rate_limit_" + name, kind, text, Double(value), labels: labels))
            }
            add("memory_bytes", .gauge, "The memory that the keys of a limit use.", table.bytes)
            add("keys", .gauge, "The keys of a limit.", table.keys)
            add("evictions_total", .counter, "Keys that were evicted, each below half of its quota.", table.evictions)
            add("fallbacks_total", .counter, "Requests counted by network because the limit's table was full.", table.fallbacks)
        }
        return readings
    }
}

extension PrometheusDescription {
    /// The descriptions of the server's metrics, by name.
    package static let ofServer: [String: PrometheusDescription] = [
        "http_server_requests": .init("Requests with a response; route none is an unknown path."),
        "http_server_request_duration": .init("Time until the response was ready."),
        "http_server_requests_in_flight": .init("Requests without a response yet."),
        "connections_closed": .init("Connections that the server closed because a client was too slow or a place was needed."),
        "connections_refused": .init("Connections that were closed right after they were accepted because there was no place."),
        "requests_shed": .init("Requests that were refused because the server was overloaded."),
        "rate_limit_decisions": .init("Decisions of rate limits."),
        "rate_limit_near": .init("Admissions that left a tenth of a limit or less."),
        "rate_limit_refunds": .init("Admissions that were refunded because the counted event did not happen."),
        "rate_limit_fair_share": .init("Requests beyond a global limit that were admitted as the fair share of their network."),
        "rate_limit_store_errors": .init("Requests about which the store of a limit could not decide."),
        "idempotency_requests": .init("Requests with an Idempotency-Key."),
        "password_resets": .init("Steps of password resets."),
        "password_reset_failures": .init("Refused reset links and new passwords."),
        "reset_mails_limited": .init("Reset emails that were not sent because their account had received too many."),
        "logins": .init("Outcomes of sign-ins."),
        "mails_handed_over": .init("Emails that the email server accepted."),
        "mails_given_up": .init("Emails that were abandoned."),
        "mail_failures": .init("Failed deliveries of emails."),
        "mail_intent_age": .init(
            "Time from the request for an email until its delivery.",
            buckets: [0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 1_800, 3_600]
        ),
        "postgres_connections": .init("Connections to PostgreSQL."),
        "postgres_waiting": .init("Tasks waiting for a connection to PostgreSQL."),
        "postgres_wait": .init("Time that tasks waited for a connection to PostgreSQL."),
        "postgres_transactions": .init("Outcomes of transactions in PostgreSQL; single statements count as transactions."),
        "postgres_retries": .init("Transactions in PostgreSQL that were repeated."),
        "valkey_connected": .init("1 while a connection to Valkey is ready."),
        "valkey_commands": .init("Commands to Valkey, by whether there was a reply."),
        "valkey_errors": .init("Errors of commands and connections of Valkey."),
        "valkey_round_trip": .init("Time until Valkey replied to a command."),
    ]
}
