public import Logging
public import RateLimiting
public import ServiceLifecycle
import Synchronization
import Timekeeping
public import ValkeyDriver

/// A store of rate limits that several servers share, which counts in Valkey or Redis. For a single process, use `JointRateLimiter`, which
/// needs no Valkey server and no round trip.
///
/// ```swift
/// let client = ValkeyClient(
///     address: try ValkeyAddress(url: "valkey://localhost:6379"),
///     scripts: ValkeyRateLimitStore<ContinuousClock>.scripts,
///     logger: logger
/// )
/// let store = ValkeyRateLimitStore(rules, client: client, secret: secret, clock: ContinuousClock(), logger: logger)
/// let response = try await store.admit([RateLimitClaim("reset-email", key: digest)])
/// ```
///
/// For each decision, Valkey runs one script with its own clock, in one round trip. The script charges all policies of the request, or
/// none. The store decides like `JointRateLimiter`, but with times in microseconds. Concurrent decisions share a pipeline. After a refusal,
/// the store refuses the same request without a round trip for at most a second. This time ends earlier if this process counts or refunds
/// one of the keys of the request.
///
/// No decision waits for Valkey longer than its deadline. If Valkey is slow or unavailable, the ``ValkeyFallback`` of each policy applies.
///
/// Each process also counts its own admissions in memory. A key without expiry shows the store whether Valkey has lost its data. A restart
/// of Valkey and a failover to a replica also count as a loss of data, because the last admissions can be missing although this key exists.
/// After a loss of data, the store also applies the counts in memory, until all lost usage would have ended. During this time, each process
/// therefore admits at most the share that the fallback of the policy defines.
///
/// Valkey contains digests of keys under the secret, which all servers must share. All keys are in one slot of a cluster. A key expires
/// when it has no usage. A key takes about 130 bytes, plus 8 bytes per unit of a sliding window. Run Valkey with the policy `noeviction`.
/// Writes then fail if the memory is full, and the fallback of each policy decides.
public final class ValkeyRateLimitStore<C: Clock>: Sendable where C.Duration == Duration {
    /// The connection to Valkey.
    let client: ValkeyClient
    /// The rules, and the names of their keys.
    let tables: LimitTables
    /// The admissions of this process, which decide while Valkey is unavailable.
    let local: LocalLimits<C>
    /// The refusals of the last second.
    let refusals = KnownRefusals()
    /// Detects whether Valkey has lost its data.
    let canary = LimitCanary()
    let logger: Logger
    /// The prefix of the names of all keys.
    private let namespace: String
    /// The longest time that a decision waits for Valkey.
    private let deadline: Duration
    private let clock: MonotonicClock
    private let time: @Sendable () -> Int64
    /// The server's time in microseconds at the first reply; 0 before the first reply. For policies that this process has not changed, the
    /// store uses this time as the time of the last change.
    private let started = Atomic<Int64>(0)
    /// The last value of `ValkeyClient.restarts` that this store has taken into account.
    private let notedRestarts = Atomic<Int>(0)

    /// The scripts that the client must load when it connects.
    public static var scripts: [ValkeyScript] { LimitScript.all }

    /// Creates a store. The client connects in the background, so the initializer doesn't wait for a connection.
    /// - Parameters:
    ///   - rules: The rules. The names of their policies must be unique. All servers should have the same rules.
    ///   - client: The client of the server, with ``scripts``. The store closes the client.
    ///   - secret: The secret for the digests of keys. It must be the same on all servers.
    ///   - namespace: The prefix of the names of all keys. The names contain it as a hash tag, so it must not contain braces or spaces.
    ///   - fallbacks: The behavior of single policies while Valkey is slow or unavailable. The keys are the names of the policies.
    ///   - fallback: The behavior of the other policies.
    ///   - deadline: The longest time that a decision waits for the server.
    ///   - memory: The most memory that the counts of this process may use, in bytes; 128 MiB by default.
    ///   - clock: A monotonic clock.
    ///   - logger: The logger, to which the store reports lost data and failures.
    /// - Precondition: There is at least one rule, the names of the policies are unique, and the namespace is valid.
    public convenience init(
        _ rules: [RateLimitRule],
        client: ValkeyClient,
        secret: KeySecret,
        namespace: String = "holdfast",
        fallbacks: [String: ValkeyFallback] = [:],
        fallback: ValkeyFallback = .local(share: 0.5),
        deadline: Duration = .milliseconds(9),
        memory: Int = 128 << 20,
        clock: C,
        logger: Logger
    ) {
        self.init(
            rules,
            client: client,
            secret: secret,
            namespace: namespace,
            fallbacks: fallbacks,
            fallback: fallback,
            deadline: deadline,
            memory: memory,
            clock: clock,
            time: { 0 },
            logger: logger
        )
    }

    /// Creates a store with a clock for tests. The other parameters are the parameters of the public initializer.
    /// - Parameter time: A closure that returns the time that the scripts use in place of the server's time, in microseconds since 1970, so
    ///   that tests don't wait. If the closure returns 0, the scripts use the server's time.
    init(
        _ rules: [RateLimitRule],
        client: ValkeyClient,
        secret: KeySecret,
        namespace: String = "holdfast",
        fallbacks: [String: ValkeyFallback] = [:],
        fallback: ValkeyFallback = .local(share: 0.5),
        deadline: Duration = .milliseconds(9),
        memory: Int = 128 << 20,
        clock: C,
        time: @escaping @Sendable () -> Int64,
        logger: Logger
    ) {
        precondition(
            !namespace.isEmpty && namespace.utf8.allSatisfy { byte in byte != 0x7B && byte != 0x7D && byte > 0x20 },
            "the namespace must not be empty or contain braces and spaces (is \(namespace))"
        )
        (self.client, self.namespace, self.deadline, self.time, self.logger) = (client, namespace, deadline, time, logger)
        self.clock = MonotonicClock(clock)
        tables = LimitTables(rules, namespace: namespace, secret: secret)
        local = LocalLimits(rules, fallbacks: fallbacks, fallback: fallback, memory: memory, secret: secret, clock: clock)
    }
}

extension ValkeyRateLimitStore: RateLimitStore {
    /// Decides about a request and counts it, in one round trip.
    ///
    /// 1. The store returns a cached refusal directly.
    /// 2. After a loss of data, this process's own count decides first.
    /// 3. The server decides. If it admits the request, this process also counts it.
    ///
    /// If the reply of the server is the first one, or if it shows a loss of data, the server has counted nothing. The store then repeats
    /// the steps 2 and 3 within the same deadline.
    ///
    /// If the server fails, the fallback decides. If only the reply was lost, or if the task is canceled, the server may still have counted
    /// the request.
    /// - Parameter claims: The claims of the request. The store skips claims of rules whose mode is `off`.
    /// - Returns: The decision, with the charge of refundable claims.
    /// - Throws: `ValkeyError` if the server fails and a policy is closed.
    /// - Precondition: Each claim names a different rule, and all rules exist.
    public func admit(_ claims: [RateLimitClaim]) async throws -> RateLimitResult {
        let resolved = tables.resolve(claims)
        guard !resolved.isEmpty else { return RateLimitResult(limits: []) }
        let asked = nanoseconds
        let (known, version) = refusals.find(resolved, at: asked)
        if let known { return known }
        while true {
            noteRestart()
            // Read the canary first. If its value is from after a loss of data, the process's own counts below then also apply.
            let canary = canary.pair
            // Count in this process before the server decides, so that concurrent requests can't exceed this process's share.
            let own = local.admitAfterLoss(claims, at: nanoseconds)
            if let own, !own.isAdmitted { return own }
            let reply: LimitReply
            do {
                let elapsed = Duration.nanoseconds(nanoseconds - asked)
                reply = try await decide(resolved, charges: true, knowing: canary, within: deadline - elapsed)
            } catch {
                if let charge = own?.charge { local.refund(charge) }
                // The server may have counted the request.
                refusals.noteChange(of: resolved.lazy.map(\.digest))
                return try local.decide(claims, charges: true, after: error)
            }
            var result = result(of: reply, to: resolved)
            guard result.isAdmitted, reply.canary == nil else {
                if let charge = own?.charge { local.refund(charge) }
                // The server has counted nothing, because this process did not know the canary.
                if result.isAdmitted { continue }
                refusals.note(result, reply, to: resolved, version: version, sent: asked, received: nanoseconds)
                return result
            }
            refusals.noteChange(of: resolved.lazy.map(\.digest))
            // If only the second decision applies, the server has lost data, and maybe the charge, while the reply was in flight.
            let decision = own ?? local.admitAfterLoss(claims, at: nanoseconds)
            if let decision, !decision.isAdmitted { return decision }
            let counted = local.count(claims, after: decision)
            result.charge = charge(of: reply, to: resolved, knowing: canary.known, counted: counted)
            return result
        }
    }

    /// Decides without counting, in one round trip. To enforce a limit, use ``admit(_:)``, because concurrent requests can use up the quota
    /// after a check.
    /// - Parameter claims: The claims of the request.
    /// - Throws: `ValkeyError` if the server fails and a policy is closed.
    /// - Precondition: Each claim names a different rule, and all rules exist.
    public func check(_ claims: [RateLimitClaim]) async throws -> RateLimitResult {
        let resolved = tables.resolve(claims)
        guard !resolved.isEmpty else { return RateLimitResult(limits: []) }
        do {
            let reply = try await decide(resolved, charges: false, knowing: canary.pair, within: deadline)
            let result = result(of: reply, to: resolved)
            guard result.isAdmitted, let own = local.checkAfterLoss(claims, at: nanoseconds), !own.isAdmitted else {
                return result
            }
            return own
        } catch {
            return try local.decide(claims, charges: false, after: error)
        }
    }

    /// Refunds the charge of an admission by this store. The store refunds the count of this process even if the server is unavailable. A
    /// second refund of the same charge has no effect. If the server has lost its data since the charge, the refund has no effect on the
    /// server.
    /// - Parameters:
    ///   - charge: The charge of an admission.
    ///   - policies: The policies to refund; `nil` refunds all policies.
    /// - Throws: `ValkeyError` if the server did not refund in time. The server may then still count the units.
    public func refund(_ charge: RateLimitCharge, under policies: Set<String>?) async throws {
        var (keys, arguments): ([[UInt8]], [[UInt8]]) = ([], [])
        var (digests, canary): ([UInt64], [UInt8]) = ([], [])
        for part in charge.take(under: policies) {
            guard case .other(let charged) = part.charged, let charged = charged as? LimitCharge else { continue }
            if let own = charged.own { local.refund(own, under: [part.policy]) }
            // The parts that the server has counted have the same value.
            if !charged.keys.isEmpty { canary = charged.canary }
            for key in charged.keys {
                keys.append(key.name)
                digests.append(key.digest)
                let (units, burst) = (Int64(key.units), Int64(key.terms.burst))
                arguments.append(ScriptNumbers.pack(units, key.instant, key.mark, burst, key.terms.emission))
            }
        }
        guard !keys.isEmpty else { return }
        defer { refusals.noteChange(of: digests) }
        _ = try await client.evaluate(
            LimitScript.refund,
            keys: [canaryKey] + keys,
            arguments: [canary, ScriptNumbers.pack(time())] + arguments,
            within: deadline
        )
    }

    /// Replaces, in this process, the rule whose policy has the same name. Also call this method in every other process that shares the
    /// limits. The store preserves the usage, so clients don't get a new burst.
    ///
    /// The usage in Valkey is stored in the form of the old policy. When a request next uses a key, the script that decides about the
    /// request converts the key's usage to the new policy. If usage lasts longer under the new policy, for example because its window is
    /// longer, the store also extends the expiry of existing keys. This takes a few milliseconds per 1,000 keys. If Valkey is unavailable,
    /// the store doesn't extend the expiry, and logs a warning.
    /// - Parameter rule: The new rule.
    /// - Precondition: There is a rule with that name.
    public func change(to rule: RateLimitRule) async throws {
        let time = try? await serverTime()
        local.change(to: rule)
        let longer = tables.change(to: rule, at: time)
        refusals.removeAll()
        do {
            for table in longer { try await extend(table) }
        } catch {
            logger.warning("Rate limits of a longer policy may expire early", metadata: ["limit.policy": "\(rule.policy.name)"])
        }
    }

    /// The memory of the process's own counts.
    public var usage: RateLimitUsage? { local.usage }
}

extension ValkeyRateLimitStore: Service {
    /// Waits until the service group shuts down, and then closes the connection.
    public func run() async throws {
        try? await gracefulShutdown()
        await close()
    }

    /// Checks that Valkey replies within a second, for example for a readiness check.
    /// - Throws: `ValkeyError` if Valkey doesn't reply in time.
    public func ping() async throws {
        _ = try await client.send(ValkeyCommand("PING"), within: .seconds(1))
    }

    /// Closes the connection. Nothing needs to be saved, because the counts are in Valkey.
    public func close() async { await client.close() }
}

extension ValkeyRateLimitStore {
    /// The name of the key that shows whether the server has lost its data.
    private var canaryKey: [UInt8] { Array("{\(namespace)}".utf8) }

    /// The current time of the process's clock.
    private var nanoseconds: Int64 { clock.now.wholeNanosecondsRoundedUp }

    /// Decides about claims by running the script on the server, and detects whether the server has lost its data.
    /// - Parameters:
    ///   - claims: The resolved claims.
    ///   - charges: Whether an admission is counted. If the reply contains a canary value, the server has counted nothing.
    ///   - canary: The canary value that this process knows, and the candidate.
    ///   - time: The longest time to wait for the reply.
    /// - Throws: `ValkeyError`, also if the reply doesn't arrive in time.
    private func decide(
        _ claims: [LimitTables.Claim],
        charges: Bool,
        knowing canary: (known: [UInt8], candidate: [UInt8]),
        within time: Duration
    ) async throws(ValkeyError) -> LimitReply {
        let started = started.load(ordering: .relaxed)
        var arguments = [canary.known, canary.candidate, ScriptNumbers.pack(charges ? 1 : 0, self.time())]
        for claim in claims {
            arguments.append(
                ScriptNumbers.pack(
                    claim.rule.mode == .shadow ? 1 : 0,
                    Int64(claim.cost),
                    claim.terms.window,
                    Int64(claim.terms.burst),
                    claim.terms.emission,
                    // Before the first reply, the server's time is unknown. The script then uses the current time.
                    claim.changed ?? (started == 0 ? 1 << 52 : started)
                )
            )
        }
        let raw = try await client.evaluate(
            LimitScript.decide,
            keys: [canaryKey] + claims.map(\.key),
            arguments: arguments,
            within: time
        )
        // The client may have connected to another process of the server since the last call.
        noteRestart()
        let reply = try LimitReply(raw, count: claims.count)
        if started == 0 {
            _ = self.started.compareExchange(expected: 0, desired: reply.now, ordering: .relaxed)
        }
        if let seen = reply.canary, self.canary.see(seen, noteLoss: { local.noteLoss(at: nanoseconds) }) {
            refusals.removeAll()
            logger.warning("Valkey lost its data: limits also apply the counts of this process for one window")
        }
        return reply
    }

    /// Records a loss of data if the client has reached another process of the server since the last call.
    ///
    /// A server that restarts from a snapshot, or a replica that was promoted, has the canary, but can lack the last admissions.
    private func noteRestart() {
        let (noted, restarts) = (notedRestarts.load(ordering: .acquiring), client.restarts)
        guard noted != restarts else { return }
        // Record the loss before the exchange, so that a concurrent decision doesn't omit the counts of this process.
        local.noteLoss(at: nanoseconds)
        guard notedRestarts.compareExchange(expected: noted, desired: restarts, ordering: .acquiringAndReleasing).exchanged
        else { return }
        refusals.removeAll()
        logger.warning("Valkey restarted: limits also apply the counts of this process for one window")
    }

    /// Converts a reply of the script to a result. If several policies refuse, the result reports the policy with the longest delay.
    private func result(of reply: LimitReply, to claims: [LimitTables.Claim]) -> RateLimitResult {
        var result = RateLimitResult(limits: [])
        var longest: (enforced: Int64, shadow: Int64) = (0, 0)
        for (claim, standing) in zip(claims, reply.standings) {
            let refusal = RateLimitResult.Refusal(
                policy: claim.rule.policy,
                retryAfter: standing.delay.map { .microseconds($0) }
            )
            if claim.rule.mode == .enforce, standing.delayOrNever > longest.enforced {
                (longest.enforced, result.refusal) = (standing.delayOrNever, refusal)
            } else if claim.rule.mode == .shadow, standing.delayOrNever > longest.shadow {
                (longest.shadow, result.shadowRefusal) = (standing.delayOrNever, refusal)
            }
            guard claim.isNarrow else { continue }
            result.limits.append(
                RateLimitResult.Limit(
                    policy: claim.rule.policy,
                    mode: claim.rule.mode,
                    isVisible: claim.rule.isVisible,
                    remaining: standing.remaining,
                    reset: .microseconds(standing.reset)
                )
            )
        }
        return result
    }

    /// Returns the charge of the refundable claims; `nil` if there are none. If a rule in shadow mode would have refused the request, the
    /// charge omits the claims of rules in shadow mode, because the script didn't charge them.
    /// - Parameters:
    ///   - reply: The reply of the script.
    ///   - claims: The resolved claims.
    ///   - canary: The canary value of the server.
    ///   - counted: The charges in the counts of this process. The keys are the names of the policies.
    private func charge(
        of reply: LimitReply,
        to claims: [LimitTables.Claim],
        knowing canary: [UInt8],
        counted: [String: RateLimitCharge]
    ) -> RateLimitCharge? {
        guard claims.contains(where: \.isRefundable) else { return nil }
        let isShadowRefused = zip(claims, reply.standings).contains { $0.rule.mode == .shadow && $1.delayOrNever > 0 }
        var parts: [(policy: String, charge: LimitCharge)] = []
        for (claim, standing) in zip(claims, reply.standings) where claim.isRefundable {
            if claim.rule.mode == .shadow && isShadowRefused { continue }
            let key = LimitCharge.Key(
                name: claim.key,
                digest: claim.digest,
                units: claim.cost,
                instant: reply.now,
                mark: standing.mark,
                terms: claim.terms
            )
            if let last = parts.indices.last, parts[last].policy == claim.policy {
                parts[last].charge.keys.append(key)
            } else {
                parts.append((claim.policy, LimitCharge(keys: [key], canary: canary, own: counted[claim.policy])))
            }
        }
        guard !parts.isEmpty else { return nil }
        return RateLimitCharge(parts.map { .init(policy: $0.policy, charged: .other($0.charge)) })
    }

    /// Returns the server's time in microseconds; `nil` if the reply is invalid.
    private func serverTime() async throws -> Int64? {
        let fixed = time()
        if fixed > 0 { return fixed }
        return try await client.send(ValkeyCommand("TIME"), within: .seconds(1)).microseconds
    }

    /// Extends the expiry of a table's keys to the longest time for which they can have usage. The method scans about 500 keys in each
    /// step. Each step is one round trip and takes at most a second.
    private func extend(_ table: LimitTables.Table) async throws {
        let pattern = String(decoding: table.keyPrefix, as: UTF8.self).reduce(into: "") { pattern, character in
            if "*?[]\\^".contains(character) { pattern.append("\\") }
            pattern.append(character)
        }
        let longest = Array(String(table.terms.longestUsage / 1_000 + 2).utf8)
        var cursor = "0"
        repeat {
            let command = ValkeyCommand("SCAN", cursor, "MATCH", pattern + "*", "COUNT", "500")
            guard case .array(let reply) = try await client.send(command, within: .seconds(1)), reply.count == 2,
                case .text(let next) = reply[0], case .array(let found) = reply[1]
            else { throw ValkeyError.protocolViolation }
            let keys = found.compactMap { key in if case .text(let name) = key { name } else { nil } }
            if !keys.isEmpty {
                _ = try await client.evaluate(LimitScript.extend, keys: keys, arguments: [longest], within: .seconds(1))
            }
            cursor = String(decoding: next, as: UTF8.self)
        } while cursor != "0"
    }
}

extension ValkeyReply {
    /// The time since 1970 in a reply to `TIME`; `nil` if the reply has another form, or if the numbers are not those of a clock.
    var microseconds: Int64? {
        guard case .array(let parts) = self else { return nil }
        let numbers = parts.compactMap { part -> Int64? in
            if case .text(let digits) = part { Int64(String(decoding: digits, as: UTF8.self)) } else { nil }
        }
        // The scripts represent a time exactly up to 2⁵³ microseconds, which is after the year 2242.
        guard numbers.count == 2, (0..<1 << 33).contains(numbers[0]), (0..<1_000_000).contains(numbers[1]) else { return nil }
        return numbers[0] * 1_000_000 + numbers[1]
    }
}

/// The units that the store charged to one policy, with the values by which ``ValkeyRateLimitStore/refund(_:under:)`` finds them on the
/// server.
package struct LimitCharge: Sendable {
    /// A key that the server counted, with the values by which a refund finds the charge.
    package struct Key: Sendable {
        /// The name of the key in Valkey.
        var name: [UInt8]
        /// The digest of the key, with which a refund invalidates cached refusals.
        var digest: UInt64
        /// The units that were charged.
        package var units: Int
        /// The time of the charge by the server's clock, in microseconds.
        package var instant: Int64
        /// The mark of the charge; see ``LimitReply/Standing/mark``.
        var mark: Int64
        /// The numbers of the policy at the time of the charge. If a strict GCRA has counted the key with other numbers since then, the
        /// script refunds nothing.
        var terms: LimitTerms
    }

    /// The keys that the server counted. The array is empty if the process decided without the server.
    package var keys: [Key]
    /// The canary value of the server at the charge. If the server has another value, it has lost the charge.
    var canary: [UInt8] = []
    /// The same charge in the counts of this process.
    var own: RateLimitCharge?
}

/// A random value that the server stores without expiry. If the value differs or is missing, the server has lost its data, for example
/// after a restart without persistence.
///
/// Each decision sends two values: the value that this process knows, and a candidate for a server that has no value. If several processes
/// send different candidates, the server stores the first candidate. The other processes receive this value with their replies. The server
/// counts a request only if the process knows the value, so no process counts a request before it has noticed a loss.
final class LimitCanary: Sendable {
    /// The known value and the candidate. Both change together.
    private struct State {
        /// The value of the server; empty before the first reply.
        var known: [UInt8] = []
        /// The value for a server that has none.
        var candidate = LimitCanary.random()
    }

    private let state = Mutex(State())

    /// The value that the server should have (empty before the first reply), and the candidate for a server that has no value.
    var pair: (known: [UInt8], candidate: [UInt8]) { state.withLock { ($0.known, $0.candidate) } }

    /// Records the server's value.
    /// - Parameters:
    ///   - value: The canary value in a reply, if it differed from the known value.
    ///   - noteLoss: Called if the server has lost its data, before ``pair`` returns the new value. So each request that is sent with the
    ///     new value takes the loss into account.
    /// - Returns: Whether the server has lost its data since the last reply; `false` for the first reply. If several replies report the
    ///   same loss, only the first call returns `true`.
    func see(_ value: [UInt8], noteLoss: () -> Void) -> Bool {
        state.withLock { state in
            guard state.known != value else { return false }
            let hasLost = !state.known.isEmpty
            if hasLost { noteLoss() }
            state = State(known: value)
            return hasLost
        }
    }

    /// Returns 16 random bytes with 126 random bits.
    private static func random() -> [UInt8] { ScriptNumbers.pack(.random(in: 0 ... .max), .random(in: 0 ... .max)) }
}
