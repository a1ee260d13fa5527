import Timekeeping

/// Applies several rules to a request in one decision: all or nothing.
///
/// A request claims units of one or more policies, such as a policy by address, a policy by account, and a policy for all clients together.
/// Either every enforced policy admits and counts the request, or no policy counts it.
///
/// The all-or-nothing guarantee also holds for concurrent callers: a decision holds the locks of its keys from the first check to the last
/// charge. All decisions take the locks in the order of the rules, so no deadlock is possible. For a single policy, use
/// ``KeyedRateLimiter``.
///
/// ```swift
/// let limiter = JointRateLimiter(
///     [
///         RateLimitRule(.requests(5, per: .seconds(900), name: "login-account")),
///         RateLimitRule(.requests(100, per: .seconds(60), name: "login-address")),
///     ],
///     clock: ContinuousClock()
/// )
/// let claims = [RateLimitClaim("login-account", key: account), RateLimitClaim("login-address", key: address)]
/// if let refusal = limiter.admit(claims).refusal { return refuse(refusal.policy.name, refusal.retryAfter) }
/// ```
///
/// Keys are stored as 63-bit hashes under a secret, never as text. A decision takes O(claims). A decision waits only for locks of other
/// decisions, and each of these decisions holds its locks for well below a microsecond.
///
/// ## Memory
///
/// Each rule has a table of keys. A rule with ``WideLimits`` has further tables for the networks of its clients. All tables share one limit
/// of memory. An eighth of the memory is reserved for the rules' own tables, in equal parts. A quarter is reserved for the tables of
/// networks, in equal parts. The rest is available to all tables.
///
/// If there is no room for a new key, the table evicts another key. The table chooses several keys at random and evicts the key with the
/// least used quota. A key that has used more than half of its quota is never evicted. If no key can be evicted, the limiter counts the
/// request for the networks of its client (``WideLimits``). If the claim has no networks, or if their tables are also full, the limiter
/// counts the request in a window that several new keys share. Each part of a table has 16 such windows, and the hash of a key determines
/// its window.
public final class JointRateLimiter<C: Clock>: Sendable where C.Duration == Duration {
    /// The names of the policies of all tables.
    let names: [String]
    /// The tables of the rules and of their networks.
    let rules: [KeyShards]
    /// The counter that chooses the shard at which the next call of ``takeChanges(upTo:time:)`` begins.
    let changes = ChangeCursor()
    /// The indexes of the tables of each rule, in the order of the rules.
    private let places: [RulePlace]
    /// The counter that chooses the shard from which ``sweep()`` removes unused keys.
    private let sweeps = ChangeCursor()
    /// The memory that the tables share.
    private let pool: MemoryPool
    /// The maximum number of bytes of all tables.
    private let memory: Int
    private let secret: KeySecret
    /// The time since the limiter was created. Tables store instants as nanoseconds of this counter.
    let elapsed: NanosecondCounter<C>

    /// Creates a limiter.
    /// - Parameters:
    ///   - rules: The rules. The names of their policies must be distinct.
    ///   - capacity: The maximum number of keys with their own window, for each table. If `nil`, only the memory limits the number.
    ///   - memory: The maximum number of bytes that the keys of all tables use. Concurrent decisions can exceed this limit for a short
    ///     time.
    ///   - secret: The secret with which keys are hashed. To restore saved usage, pass the secret of the limiter that saved it.
    ///   - recordsChanges: Whether the limiter records which keys have changed. If `true`, call ``takeChanges(upTo:time:)`` regularly.
    ///   - clock: The clock that determines which admissions still count. It must never go back.
    /// - Precondition: `rules` is not empty, the names of the policies are distinct, `capacity` and `memory` are positive.
    public init(
        _ rules: [RateLimitRule],
        capacity: Int? = nil,
        memory: Int = 128 << 20,
        secret: KeySecret = KeySecret(),
        recordsChanges: Bool = false,
        clock: C
    ) {
        precondition(!rules.isEmpty, "joint limits need a rule")
        precondition(memory > 0, "memory must be positive (is \(memory))")
        let all = rules.map { [$0] + $0.networkRules }
        places = all.indices.map { index in
            let first = all[..<index].reduce(0) { $0 + $1.count }
            return RulePlace(name: rules[index].policy.name, first: first, use: rules[index].wide?.use)
        }
        let tables = all.flatMap(\.self)
        names = tables.map(\.policy.name)
        precondition(Set(names).count == names.count, "joint limits need distinct names (are \(names))")
        // The limiter uses the tables of networks when other tables are full, so the tables of networks get most of the reserved memory.
        let networkCount = tables.count - rules.count
        let reserved = (narrow: memory / 8 / rules.count, network: memory / 4 / max(1, networkCount))
        let pool = MemoryPool(size: memory - memory / 8 - (networkCount > 0 ? memory / 4 : 0))
        let narrow = Set(places.map(\.first))
        let capacity = capacity ?? max(1, memory / Self.bytesOfKey)
        self.rules = tables.indices.map { index in
            KeyShards(
                rule: tables[index],
                capacity: capacity,
                shardCount: KeyShards.count(capacity: min(capacity, memory / Self.bytesOfKey), keysEach: 32_768),
                memory: (pool, narrow.contains(index) ? reserved.narrow : reserved.network),
                recordsChanges: recordsChanges
            )
        }
        (self.pool, self.memory) = (pool, memory)
        self.secret = secret
        elapsed = NanosecondCounter(clock)
    }

    /// The approximate number of bytes that the smallest key uses.
    private static var bytesOfKey: Int { 24 }

    /// The rules that apply now, in the order of the initializer. A call of ``change(to:)`` replaces a rule.
    public var currentRules: [RateLimitRule] { places.map { rules[$0.first].rule } }

    /// The names of all policies, including the policies of networks. A log of admissions identifies a policy by its index in this array.
    public var policyNames: [String] { names }

    /// The memory that the keys use, and the number of actions that the limiter took because memory was short. O(locks).
    public var usage: RateLimitUsage? {
        let tables = zip(names, rules).map { name, rule in
            let usage = rule.usage
            return RateLimitUsage.Table(
                policy: name,
                keys: usage.keys,
                bytes: usage.bytes,
                evictions: usage.evictions,
                fallbacks: usage.fallbacks
            )
        }
        return RateLimitUsage(limit: memory, tables: tables)
    }

    /// Admits or refuses one request, and counts an admitted request. O(claims).
    /// - Parameter claims: The claims of the request. A request without claims is admitted.
    /// - Returns: The state of all claimed limits, and the refusal with the longest delay if an enforced policy refuses the request.
    /// - Precondition: Every claim names a rule of this limiter, and no two claims name the same rule.
    public func admit(_ claims: [RateLimitClaim]) -> RateLimitResult {
        decide(claims, at: elapsed.now, charges: true)
    }

    /// Admits or refuses one request at an instant that the caller already knows.
    ///
    /// Use this method to decide about a request as of the time when the server received it. If an earlier call passed a later instant, the
    /// limiter uses the later instant for this request too.
    /// - Parameters:
    ///   - claims: The claims of the request.
    ///   - instant: The instant of the request, from the clock of this limiter.
    /// - Returns: The result, as for ``admit(_:)``.
    /// - Precondition: Every claim names a rule of this limiter, and no two claims name the same rule.
    public func admit(_ claims: [RateLimitClaim], at instant: C.Instant) -> RateLimitResult {
        decide(claims, at: elapsed.nanoseconds(at: instant), charges: true)
    }

    /// Admits or refuses one request, and reports each charge. Use this method to write a log of admissions.
    ///
    /// - Parameters:
    ///   - claims: The claims of the request.
    ///   - report: A closure that receives each charge: the index of the policy in ``policyNames``, the digest of the key, and the units.
    ///     The limiter holds no lock while it calls the closure.
    /// - Precondition: Every claim names a rule of this limiter, and no two claims name the same rule.
    package func admit(_ claims: [RateLimitClaim], reporting report: (Int, KeyDigest, Int) -> Void) -> RateLimitResult {
        decide(claims, at: elapsed.now, charges: true, report: report)
    }

    /// Returns the result that ``admit(_:)`` would return now. Counts nothing. O(claims).
    ///
    /// Use this method only to report the state of limits. To decide about a request, use ``admit(_:)``, because other callers can use up
    /// the quota between a check and a later admission.
    /// - Parameter claims: The claims, as for ``admit(_:)``.
    /// - Precondition: Every claim names a rule of this limiter, and no two claims name the same rule.
    public func check(_ claims: [RateLimitClaim]) -> RateLimitResult {
        decide(claims, at: elapsed.now, charges: false)
    }

    /// Refunds the units that an admission charged, including the units that it charged to the client's networks. Afterwards, the state is
    /// as if the limiter had not admitted the request.
    ///
    /// A refund never returns more units than the admission charged. For the sliding window, the refund is exact. For a GCRA, the refund is
    /// exact if the same key has not been admitted again in the meantime. Otherwise, the refund can be too small, because a GCRA doesn't
    /// store the times of its admissions. The missing part is at most the number of units that became available between the admission and
    /// the refund. A policy refunds nothing if its algorithm has changed since the admission, if any number of a GCRA policy has changed,
    /// or if the limiter has removed the key. O(quota) for each policy.
    /// - Parameters:
    ///   - charge: The charge of an admission by this limiter. Each policy refunds its units only once.
    ///   - policies: The names of the policies to refund; `nil` for all refundable policies.
    public func refund(_ charge: RateLimitCharge, under policies: Set<String>? = nil) {
        for case .key(let part) in charge.take(under: policies).map(\.charged) {
            rules[part.table].shard(of: part.key).withTable(at: elapsed.now) { table, now in
                table.refund(part.charge, of: part.key, at: now)
            }
        }
    }

    /// Replaces the policy, mode or visibility of the rule with the same policy name. Earlier admissions of a key also count under the new
    /// policy.
    ///
    /// If the new window is longer, admissions older than the old window are not counted. If the algorithm changes from GCRA to the sliding
    /// window, each key with usage is refused for one whole window, because a GCRA doesn't store the times of its admissions. O(keys). The
    /// change holds only one lock at a time, so most decisions don't wait for it.
    ///
    /// ```swift
    /// limiter.change(to: RateLimitRule(.requests(2, per: .seconds(900), name: "login-account")))
    /// ```
    ///
    /// - Parameter rule: The new rule. Its policy has the same name as the policy that it replaces.
    /// - Precondition: The limiter has a rule whose policy has this name.
    public func change(to rule: RateLimitRule) {
        let place = place(of: rule.policy.name)
        let networks = place.use == nil ? [] : rule.networkRules
        for (index, rule) in ([rule] + networks).enumerated() { rules[place.first + index].apply(rule, now: { elapsed.now }) }
    }

    /// Removes the usage of a key under one policy.
    ///
    /// The whole quota is then available to the key again. Use this method in an operator's tools, for example to unblock a user. To return
    /// the units of one request, use ``refund(_:under:)``.
    /// - Parameters:
    ///   - policy: The name of the policy.
    ///   - key: The key. If it has no usage, the method does nothing.
    /// - Precondition: The limiter has a rule whose policy has this name.
    public func reset(_ policy: String, key: some PartitionKey) {
        let digest = secret.digest(of: key)
        rules[place(of: policy).first].shard(of: digest).withTable { $0.reset(digest) }
    }

    /// Removes the usage of all keys under all policies. O(keys).
    ///
    /// The whole quota is then available to every client again, so the server can get a burst of requests. If the limiter records changes,
    /// ``takeChanges(upTo:time:)`` reports the keys, so that the caller deletes their saved rows.
    public func resetAll() {
        for rule in rules { (0..<rule.count).forEach { rule[$0].withTable { $0.reset(nil) } } }
    }

    /// Returns the number of keys with their own window under a policy.
    ///
    /// - Parameter policy: The name of the policy.
    /// - Precondition: The limiter has a rule whose policy has this name.
    public func count(of policy: String) -> Int { rules[place(of: policy).first].keyCount }

    /// Returns the indexes of a policy's tables.
    /// - Precondition: The limiter has a rule whose policy has this name.
    private func place(of policy: String) -> RulePlace {
        for place in places where place.name == policy { return place }
        preconditionFailure("no rule is named \(policy) (are \(places.map(\.name)))")
    }

    /// Admits or refuses one request. If a table is full, the method repeats the decision once with the claims of the client's networks.
    /// - Parameters:
    ///   - claims: The claims of the request.
    ///   - now: The time of the request, in nanoseconds since the limiter was created.
    ///   - charges: Whether the limiter counts an admitted request.
    ///   - report: A closure that receives the index of the table, the digest of the key, and the units of each charge. The method calls
    ///     the closure after it has released the locks.
    @inline(__always)
    private func decide(
        _ claims: [RateLimitClaim],
        at now: Int64,
        charges: Bool,
        report: (Int, KeyDigest, Int) -> Void = { _, _, _ in }
    ) -> RateLimitResult {
        var result = RateLimitResult(limits: [])
        withUnsafeTemporaryAllocation(of: ResolvedClaim.self, capacity: Self.mostResolved(claims)) { memory in
            var isPressed = false
            var charged = UnsafeMutableBufferPointer(rebasing: memory[..<0])
            for hasFallbacks in [false, true] {
                let resolved = resolve(claims, into: memory, hasFallbacks: hasFallbacks)
                let first = JointDecision.chain(resolved, names: names)
                JointDecision.takeLocks(resolved, from: first)
                defer { for claim in resolved { claim.shard.release() } }
                var decision = JointDecision(resolved)
                decision.make(at: now, charges: charges, hasFallbacks: hasFallbacks)
                if decision.needsFallback { continue }
                result.limits = decision.limits()
                if decision.enforced.place >= 0 { result.refusal = decision.refusal(decision.enforced) }
                if decision.inShadow.place >= 0 { result.shadowRefusal = decision.refusal(decision.inShadow) }
                result.charge = decision.refundableCharge()
                isPressed = decision.isPressed
                charged = resolved
                break
            }
            for claim in charged where claim.units > 0 { report(claim.table, KeyDigest(rawValue: claim.digest), claim.units) }
            if isPressed { sweep() }
        }
        return result
    }

    /// Returns the maximum number of claims that ``resolve(_:into:hasFallbacks:)`` returns.
    static func mostResolved(_ claims: [RateLimitClaim]) -> Int {
        claims.indices.reduce(0) { $0 + (claims[$1].networks == nil ? 1 : 3) }
    }

    /// Finds the table and the digest of each claim, and adds claims for the client's networks.
    ///
    /// - Parameters:
    ///   - memory: The memory into which the method writes the resolved claims.
    ///   - hasFallbacks: Whether to add claims for networks that count only if a table is full. Each such claim is for the client's widest
    ///     network.
    /// - Returns: The part of `memory` that contains the resolved claims.
    func resolve(
        _ claims: [RateLimitClaim],
        into memory: UnsafeMutableBufferPointer<ResolvedClaim>,
        hasFallbacks: Bool
    ) -> UnsafeMutableBufferPointer<ResolvedClaim> {
        var count = 0
        func add(
            _ index: Int,
            _ table: Int,
            _ digest: KeyDigest,
            _ whenFull: ResolvedClaim.WhenFull,
            isNarrow: Bool = false,
            isFallback: Bool = false
        ) {
            let resolved = ResolvedClaim(
                table: table,
                digest: digest.word,
                cost: claims[index].cost ?? 0,
                shard: rules[table].shard(of: digest),
                whenFull: whenFull,
                isNarrow: isNarrow,
                isFallback: isFallback,
                isRefundable: claims[index].isRefundable
            )
            memory.initializeElement(at: count, to: resolved)
            count += 1
        }
        // A loop over the claims themselves would copy each claim.
        for index in claims.indices {
            let place = place(of: claims[index].policy)
            let networks = place.use == nil ? nil : claims[index].networks
            let whenFull: ResolvedClaim.WhenFull = networks == nil ? .bucket : place.use == .jointly ? .skip : .fallBack
            add(index, place.first, secret.digest(of: claims[index].key), whenFull, isNarrow: true)
            guard let networks else { continue }
            if place.use == .jointly {
                add(index, place.first + 1, secret.digest(of: networks.near), networks.far == nil ? .bucket : .skip)
                if let far = networks.far { add(index, place.first + 2, secret.digest(of: far), .bucket) }
            } else if hasFallbacks {
                let table = place.first + (networks.far == nil ? 1 : 2)
                add(index, table, secret.digest(of: networks.far ?? networks.near), .bucket, isFallback: true)
            }
        }
        return UnsafeMutableBufferPointer(rebasing: memory[..<count])
    }

    /// Removes some unused keys from the next shard, in any table. Without sweeps, a table would remove unused keys only when it gets new
    /// keys. Until then, it would keep memory that other tables need. O(1).
    private func sweep() {
        var place = sweeps.next(of: rules.reduce(0) { $0 + $1.count })
        for rule in rules {
            guard place >= rule.count else {
                return rule[place].withTable(at: elapsed.now) { table, now in table.dropExpired(64, at: now) }
            }
            place -= rule.count
        }
    }
}

/// The indexes of a rule's tables in ``JointRateLimiter``. The type isn't nested in the generic class, because code for a nested type reads
/// the metadata of the class in each call.
private struct RulePlace {
    /// The name of the policy.
    var name: String
    /// The index of the table for the callers' own claims. If the rule counts networks, the tables of the near and the far networks follow
    /// this table.
    var first: Int
    /// The condition under which a request is also counted for networks; `nil` if the rule counts no networks.
    var use: WideLimits.Use?
}
