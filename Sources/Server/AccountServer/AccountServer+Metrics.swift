import AccountCore
import AccountRoutes
import Foundation
package import Observability
import RateLimiting
import ServerMiddleware

extension AccountServer {
    /// The gauges of this server, read now.
    package func readings() async -> [PrometheusReading] {
        var readings: [PrometheusReading] = []
        let version = [("version", Self.version)]
        readings.append(.init("holdfast_build_info", .gauge, "The version that runs.", 1, labels: version))
        readings.append(
            .init("holdfast_hashing_queue_length", .gauge, "Passwords that wait to be hashed.", Double(gate.queueLength))
        )
        readings.append(
            .init("holdfast_hashing_rate", .gauge, "Hashes per second while all cores hash, as measured lately.", gate.rate)
        )
        let load = shedding.load
        readings += [
            .init(
                "holdfast_requests_running",
                .gauge,
                "Requests that are worked on, of REQUESTS_IN_FLIGHT.",
                Double(load.running)
            ),
            .init("holdfast_requests_waiting", .gauge, "Requests that wait for one of them to end.", Double(load.waiting)),
        ]
        for (file, path) in stores.files {
            guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber else { continue }
            let labels = [("file", file)]
            readings.append(
                .init("holdfast_database_bytes", .gauge, "Sizes of the database's files.", size.doubleValue, labels: labels)
            )
        }
        if let usage = limitStore.usage { readings += Self.readings(of: usage) }
        let isReady = await readiness.failure() == nil
        readings.append(
            .init("holdfast_ready", .gauge, "1 if the server is ready, as /health/ready reports; otherwise 0.", isReady ? 1 : 0)
        )
        // A figure that can't be had is left out: an old one would hide that. A server that is not ready could wait long for it.
        if isReady, let count = try? await stores.intents.count() {
            readings.append(
                .init("holdfast_mail_queue_length", .gauge, "Mails that are to be made or tried again.", Double(count))
            )
        }
        let now = steady.now()
        if isReady, let oldest = try? await stores.intents.oldest(at: now) ?? now {
            readings.append(
                .init(
                    "holdfast_mail_oldest_seconds",
                    .gauge,
                    "The age of the oldest email that is due; 0 if none is.",
                    max(0, now.timeIntervalSince(oldest))
                )
            )
        }
        return readings
    }

    private static func readings(of limits: RateLimitUsage) -> [PrometheusReading] {
        var readings = [
            PrometheusReading(
                "holdfast_rate_limit_memory_limit_bytes",
                .gauge,
                "The memory that the keys of all limits may take.",
                Double(limits.limit)
            )
        ]
        for table in limits.tables {
            let labels = [("policy", table.policy)]
            func add(_ name: String, _ kind: PrometheusKind, _ text: String, _ value: Int) {
                readings.append(.init("holdfast_rate_limit_" + name, kind, text, Double(value), labels: labels))
            }
            add("memory_bytes", .gauge, "The memory that a limit's keys take.", table.bytes)
            add("keys", .gauge, "The keys of a limit.", table.keys)
            add("evictions_total", .counter, "Keys that were evicted, each below half of its quota.", table.evictions)
            add("fallbacks_total", .counter, "Requests that a full limit counted by the client's network.", table.fallbacks)
        }
        return readings
    }
}

extension PrometheusDescription {
    /// What the server counts, in words.
    package static let ofServer: [String: PrometheusDescription] = [
        "http_server_requests": .init("Requests that were answered; route none is a path that nothing serves."),
        "http_server_request_duration": .init("Time until an answer was ready."),
        "http_server_requests_in_flight": .init("Requests that are being answered."),
        "connections_closed": .init("Connections that the server closed: a client was too slow, or a place was needed."),
        "connections_refused": .init("Connections that were closed when they were accepted, for want of a place."),
        "requests_shed": .init("Requests that were sent away since there were too many."),
        "rate_limit_decisions": .init("What limits decided."),
        "rate_limit_near": .init("Admissions that left a tenth of a limit or less."),
        "rate_limit_refunds": .init("Admissions that were refunded, because what the limit counts did not happen."),
        "rate_limit_fair_share": .init("Requests that a limit for all refused, admitted as the fair share of their network."),
        "rate_limit_store_errors": .init("Requests about which a limit's store could not decide."),
        "idempotency_requests": .init("Requests with an Idempotency-Key."),
        "password_resets": .init("How far resets came."),
        "password_reset_failures": .init("Links and new passwords that were refused."),
        "reset_mails_limited": .init("Reset emails that were not sent because their account had got too many."),
        "logins": .init("How sign-ins ended."),
        "mails_handed_over": .init("Mails that the mail server took."),
        "mails_given_up": .init("Mails that are not tried again."),
        "mail_failures": .init("Tries to hand over a mail that failed."),
        "mail_intent_age": .init(
            "Time from the request for a mail until it was handed over.",
            buckets: [0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 1_800, 3_600]
        ),
        "postgres_connections": .init("Connections to PostgreSQL."),
        "postgres_waiting": .init("Tasks that wait for a connection to PostgreSQL."),
        "postgres_wait": .init("Time that tasks waited for a connection to PostgreSQL."),
        "postgres_transactions": .init("How transactions in PostgreSQL ended; single statements count as transactions."),
        "postgres_retries": .init("Transactions in PostgreSQL that were repeated."),
        "valkey_connected": .init("1 while a connection to Valkey is ready."),
        "valkey_commands": .init("Commands for Valkey, and whether there was a reply."),
        "valkey_errors": .init("Errors of commands and connections of Valkey."),
        "valkey_round_trip": .init("Time until Valkey replied to a command."),
    ]
}
