public import RateLimiting

/// A check of one rule that every implementation of `RateLimitStore` must follow.
///
/// ```swift
/// @Test("The MySQL store of limits passes every check", arguments: RateLimitStoreCheck.all)
/// func passes(_ check: RateLimitStoreCheck) async throws {
///     let clock = ManualClock()
///     try await check.run(MySQLRateLimitStore(check.rules, clock: clock), wait: { clock.advance(by: $0) })
/// }
/// ```
///
/// The checks compare delays and resets (the times until the full quota is available) exactly, some to the microsecond. So the store must
/// read the time from the clock of the test and not from the database.
///
/// A store must decide immediately, because no check waits in real time. The store may do other work later, such as its sweep. The suite
/// doesn't cover the capacity of a store or the sweep of expired usage, because both differ between stores.
public struct RateLimitStoreCheck: Sendable, CustomStringConvertible {
    /// The rule, as a sentence that begins with `limits:`. A parameterized test shows it as the name of the test case.
    public let description: String
    /// The rate limit rules with which the test must create the store.
    public let rules: [RateLimitRule]
    /// The steps of the check. They throw ``Difference`` at the first violation.
    private let body: @Sendable (LimitsUnderTest) async throws -> Void

    /// Creates a check.
    /// - Parameters:
    ///   - rule: The rule as a sentence in the present tense.
    ///   - rules: The rate limit rules that the store must have.
    ///   - body: The steps of the check.
    init(_ rule: String, _ rules: [RateLimitRule], _ body: @escaping @Sendable (LimitsUnderTest) async throws -> Void) {
        description = "limits: \(rule)"
        self.rules = rules
        self.body = body
    }

    /// Runs the check on a store, which must be new and empty, and have the ``rules`` of the check.
    /// - Parameters:
    ///   - store: The store.
    ///   - other: Another store on the same data, which represents another process. Checks of concurrency then use both.
    ///   - wait: Advances the clock of the store. Only this closure may advance the clock, so use a manual clock.
    /// - Throws: `AccountStoreCheck.Violation` if the store violates the rule; errors of the store.
    public func run(
        _ store: any RateLimitStore,
        sharedWith other: (any RateLimitStore)? = nil,
        wait: @escaping @Sendable (Duration) async throws -> Void
    ) async throws {
        try await AccountStoreCheck.Violation.report(of: description) {
            try await body(LimitsUnderTest(store: store, other: other ?? store, wait: wait))
        }
    }

    /// All checks: joint decisions, windows, refunds, changes of rules, and concurrency.
    public static let all = decisions + windows + refunds + changes + concurrency
}

/// The store that a check tests, another store on the same data, and a closure that advances the clock of both.
struct LimitsUnderTest: Sendable {
    /// The store that most steps use.
    let store: any RateLimitStore
    /// A store on the same data, which represents another process; the same as `store` if the test has only one store.
    let other: any RateLimitStore
    /// Advances the clock of both stores.
    let wait: @Sendable (Duration) async throws -> Void

    /// Requires that a policy refuses a request with an exact delay.
    /// - Parameters:
    ///   - claims: The claims of the request.
    ///   - policy: The policy that the store must report as the reason of the refusal.
    ///   - wait: The expected `Retry-After`; `nil` if the store can never admit the request, because its cost exceeds the quota.
    ///   - line: The line of the check.
    func requireRefusal(
        _ claims: [RateLimitClaim],
        under policy: RateLimitPolicy,
        for wait: Duration?,
        line: Int = #line
    ) async throws {
        let refusal = try await store.admit(claims).refusal
        try require(refusal?.policy.name, equals: policy.name, "The policy that refuses", line: line)
        try require(refusal?.retryAfter, equals: wait, "The wait", line: line)
    }

    /// Requires that the store admits a request. The store then counts the request.
    /// - Parameters:
    ///   - claims: The claims of the request.
    ///   - line: The line of the check.
    /// - Returns: The result. If one of the claims is refundable, the result contains a charge, with which the caller can refund the units.
    /// - Throws: ``Difference`` with the refusing policy and its delay; errors of the store.
    @discardableResult
    func requireAdmission(_ claims: [RateLimitClaim], line: Int = #line) async throws -> RateLimitResult {
        let response = try await store.admit(claims)
        let refusal = response.refusal.map { "\($0.policy.name) for \($0.retryAfter.map { "\($0)" } ?? "ever")" } ?? ""
        try require(response.isAdmitted, "The request should be admitted and is refused by \(refusal)", line: line)
        return response
    }

    /// Requires that each claim has a number of remaining units. The function uses `check`, so the store counts nothing.
    /// - Parameters:
    ///   - claims: The claims.
    ///   - remaining: The expected units, in the order of the claims.
    ///   - line: The line of the check.
    func requireRemaining(_ claims: [RateLimitClaim], _ remaining: [Int], line: Int = #line) async throws {
        try require(try await store.check(claims).limits.map(\.remaining), equals: remaining, "The remaining units", line: line)
    }
}

extension RateLimitStoreCheck {
    /// 2 requests a minute per account.
    private static let account = RateLimitPolicy.requests(2, per: .seconds(60), name: "account")
    /// 3 requests an hour per address.
    private static let address = RateLimitPolicy.requests(3, per: .seconds(3_600), name: "address")
    /// 5 requests per 10 minutes for all clients together.
    private static let everybody = RateLimitPolicy.requests(5, per: .seconds(600), name: "everybody")
    /// A policy of 10 requests a minute by the strict GCRA, with a burst of 5. Any window of a minute contains at most 10 requests,
    /// including the burst. So after a burst of 5 requests, only 5 more requests fit into a minute: a unit becomes available every 10 s (60
    /// s / (10 − 5 + 1)), and not every 6 s.
    private static let paced = RateLimitPolicy.requests(
        10,
        per: .seconds(60),
        name: "paced",
        algorithm: .strictGCRA(burst: 5)
    )

    /// Returns the claims of a request under the rules ``joint``.
    /// - Parameters:
    ///   - account: The key of the account.
    ///   - address: The key of the address.
    ///   - cost: The units that the request takes from each policy; `nil` for the cost that the policy defines.
    private static func claims(_ account: String, _ address: String, cost: Int? = nil) -> [RateLimitClaim] {
        [
            RateLimitClaim("account", key: account, cost: cost), RateLimitClaim("address", key: address, cost: cost),
            RateLimitClaim("everybody", cost: cost),
        ]
    }

    /// Three rules that decide together. The third rule is not visible to clients.
    private static let joint = [RateLimitRule(account), RateLimitRule(address), RateLimitRule(everybody, isVisible: false)]

    /// Checks of joint decisions. Either all policies admit a request, or no policy counts it. If several policies refuse the request, the
    /// store reports the refusal with the longest delay.
    ///
    /// Common causes of failures:
    /// - *Decides all or nothing*: the store counts the request for one policy before it has checked the next policy, and doesn't undo the
    ///   count after a refusal.
    /// - *Repeats a refusal … equal to a check*: a refused `admit` changes the usage. If a client retries during the delay, the store must
    ///   not extend the delay.
    /// - *Repeats a refusal only until other requests count its keys*: the store caches a refusal, and doesn't notice that the usage of one
    ///   of its keys has changed.
    /// - *Never admits a cost above the quota*: the store reports a delay, although no delay helps.
    /// - *Reports refusals of a policy in shadow mode*: the store refuses the request. A policy in shadow mode must count admitted
    ///   requests, but never refuse a request.
    private static let decisions: [RateLimitStoreCheck] = [
        .init("Decides all or nothing, and reports the policy with the longest delay", joint) { limits in
            try await limits.requireAdmission(claims("ana", "::1"))
            try await limits.requireAdmission(claims("ana", "::1"))
            for _ in 0..<20 { try await limits.requireRefusal(claims("ana", "::1"), under: account, for: .seconds(60)) }
            try await limits.requireRemaining(claims("ana", "::1"), [0, 1, 3])
            try await limits.requireAdmission(claims("eva", "::1"))
            try await limits.requireRefusal(claims("eva", "::1"), under: address, for: .seconds(3_600))
            try await limits.requireRefusal(claims("ana", "::1"), under: address, for: .seconds(3_600))
            try await limits.requireAdmission(claims("eva", "::2"))
            try await limits.requireAdmission(claims("ida", "::2"))
            try await limits.requireRefusal(claims("ida", "::2"), under: everybody, for: .seconds(600))
            try await limits.requireAdmission([RateLimitClaim("account", key: "ida")])
        },
        .init("Reports remaining units and resets of each policy in the order of the claims", joint) { limits in
            let untouched = try await limits.store.check(claims("ana", "::1")).limits
            try require(untouched.map(\.reset), equals: [.zero, .zero, .zero], "The resets of unused policies")
            try require(untouched.map(\.isVisible), equals: [true, true, false], "The visibility")
            try await limits.requireAdmission(claims("ana", "::1"))
            try await limits.wait(.seconds(4))
            let response = try await limits.requireAdmission(claims("ana", "::1"))
            try require(response.limits.map(\.policy.name), equals: ["account", "address", "everybody"], "The policies")
            try require(response.limits.map(\.remaining), equals: [0, 1, 3], "What remains")
            let resets = [Duration.seconds(56), .seconds(3_596), .seconds(596)]
            try require(response.limits.map(\.reset), equals: resets, "The resets")
        },
        .init(
            "Repeats a refusal with all policies, equal to a check, with shorter delays",
            [RateLimitRule(account), RateLimitRule(address, mode: .shadow), RateLimitRule(everybody, isVisible: false)]
        ) { limits in
            for isRefundable in [false, true] {
                let name = "ana \(isRefundable)"
                var claims = claims(name, name)
                for index in claims.indices { claims[index].isRefundable = isRefundable }
                for _ in 0..<2 { try await limits.requireAdmission(claims) }
                for round in 0..<30 {
                    let response = try await limits.store.admit(claims)
                    try require(response, equals: try await limits.store.check(claims), "The refusal")
                    try require(response.limits.map(\.remaining), equals: [0, 1, isRefundable ? 1 : 3], "What remains")
                    let passed = Duration.milliseconds(90 * round)
                    try require(response.refusal?.retryAfter, equals: .seconds(60) - passed, "The wait")
                    try require(response.limits.first?.reset, equals: .seconds(60) - passed, "The reset")
                    try await limits.wait(.milliseconds(90))
                }
            }
        },
        .init("Repeats a refusal only until other requests count its keys", joint) { limits in
            for _ in 0..<2 { try await limits.requireAdmission(claims("ana", "::1")) }
            let before = try await limits.store.admit(claims("ana", "::1"))
            try require(before.limits.map(\.remaining), equals: [0, 1, 3], "What remains")
            try await limits.requireAdmission(claims("eva", "::1"))
            let after = try await limits.store.admit(claims("ana", "::1"))
            try require(after.limits.map(\.remaining), equals: [0, 0, 2], "What remains")
            try require(after.refusal?.retryAfter, equals: .seconds(3_600), "The wait")
        },
        .init("Counts nothing in a check", joint) { limits in
            for _ in 0..<10 {
                try require(try await limits.store.check(claims("ana", "::1")).isAdmitted, "A check should be admitted")
            }
            try await limits.requireRemaining(claims("ana", "::1"), [2, 3, 5])
        },
        .init("Never admits a cost above the quota, and counts it nowhere", joint) { limits in
            try await limits.requireRefusal(claims("ana", "::1", cost: 3), under: account, for: nil)
            try await limits.requireRemaining(claims("ana", "::1"), [2, 3, 5])
            try await limits.requireAdmission(claims("ana", "::1", cost: 2))
            try await limits.requireRemaining(claims("ana", "::1"), [0, 1, 3])
        },
        .init(
            "Reports refusals of a policy in shadow mode, and counts its admissions",
            [RateLimitRule(account, mode: .shadow), RateLimitRule(address)]
        ) { limits in
            let claims = Array(claims("ana", "::1").dropLast())
            for _ in 0..<2 {
                let admission = try await limits.requireAdmission(claims)
                try require(admission.shadowRefusal == nil, "There should be no refusal in shadow")
            }
            let third = try await limits.requireAdmission(claims)
            try require(third.shadowRefusal?.policy.name, equals: "account", "The policy that would refuse")
            try require(third.limits.map(\.remaining), equals: [0, 0], "What remains")
            try require(third.limits.map(\.mode), equals: [.shadow, .enforce], "The modes")
            try await limits.requireRefusal(claims, under: address, for: .seconds(3_600))
        },
        .init("Ignores a policy that is off", [RateLimitRule(account, mode: .off), RateLimitRule(address)]) { limits in
            let claims = Array(claims("ana", "::1").dropLast())
            try require(try await limits.requireAdmission(claims).limits.map(\.policy.name), equals: ["address"], "The policies")
            for _ in 0..<5 { try await limits.requireAdmission([RateLimitClaim("account", key: "ana")]) }
        },
        .init(
            "Counts the networks of a client jointly with the client",
            [RateLimitRule(account, wide: WideLimits(near: 2, far: 3))]
        ) { limits in
            func claim(_ key: String, near: UInt64) -> [RateLimitClaim] {
                [RateLimitClaim("account", key: key, networks: ClientNetworks(near: near, far: 7))]
            }
            for key in ["a", "b"] { for _ in 0..<2 { try await limits.requireAdmission(claim(key, near: 1)) } }
            let refusal = try await limits.store.admit(claim("c", near: 1)).refusal
            try require(refusal?.policy.name, equals: "account.near", "The policy that refuses")
            for _ in 0..<2 { try await limits.requireAdmission(claim("c", near: 2)) }
            let far = try await limits.store.admit(claim("d", near: 3)).refusal
            try require(far?.policy.name, equals: "account.far", "The policy that refuses")
            try await limits.requireRemaining([RateLimitClaim("account", key: "d")], [2])
        },
    ]

    /// Checks of time: a window admits exactly its quota. A request succeeds at the end of the reported delay, but not a microsecond
    /// earlier.
    ///
    /// Common causes of failures:
    /// - *Admits exactly the quota in a window*: the store uses a fixed window, which admits up to twice the quota around its boundary.
    /// - *Waits for the last unit that a cost needs*: the store reports the delay until the first of the needed units becomes available,
    ///   instead of the last.
    /// - *Restores the units of the strict GCRA evenly*: the store adds the burst to the quota. The burst must be a part of the quota.
    /// - *Admits at the end of the reported delay*: the store rounds times to milliseconds, or rounds a delay down.
    private static let windows: [RateLimitStoreCheck] = [
        .init("Admits exactly the quota in a window, and one more when the first unit leaves it", joint) { limits in
            let claim = [RateLimitClaim("everybody")]
            for _ in 0..<5 {
                try await limits.requireAdmission(claim)
                try await limits.wait(.seconds(100))
            }
            try await limits.requireRefusal(claim, under: everybody, for: .seconds(100))
            try await limits.wait(.seconds(98))
            try await limits.requireRefusal(claim, under: everybody, for: .seconds(2))
            try await limits.wait(.seconds(2))
            try await limits.requireAdmission(claim)
            try await limits.requireRefusal(claim, under: everybody, for: .seconds(100))
        },
        .init("Waits for the last unit that a cost needs", joint) { limits in
            for cost in [1, 2, 1] {
                try await limits.requireAdmission([RateLimitClaim("everybody", cost: cost)])
                try await limits.wait(.seconds(10))
            }
            try await limits.requireAdmission([RateLimitClaim("everybody")])
            try await limits.requireRefusal([RateLimitClaim("everybody", cost: 2)], under: everybody, for: .seconds(580))
            try await limits.requireRefusal([RateLimitClaim("everybody", cost: 4)], under: everybody, for: .seconds(590))
            try await limits.wait(.seconds(580))
            try await limits.requireAdmission([RateLimitClaim("everybody", cost: 3)])
        },
        .init("Restores the units of the strict GCRA evenly", [RateLimitRule(paced)]) { limits in
            let claim = [RateLimitClaim("paced", key: "ana")]
            for _ in 0..<5 { try await limits.requireAdmission(claim) }
            try await limits.requireRefusal(claim, under: paced, for: .seconds(10))
            try await limits.requireRefusal([RateLimitClaim("paced", key: "ana", cost: 3)], under: paced, for: .seconds(30))
            try await limits.wait(.seconds(10))
            try await limits.requireAdmission(claim)
            try await limits.wait(.seconds(30))
            try await limits.requireRemaining(claim, [3])
            try await limits.wait(.seconds(60))
            try await limits.requireRemaining(claim, [5])
        },
        .init("Admits at the end of the reported delay, for any algorithm and cost", joint + [RateLimitRule(paced)]) { limits in
            var admitted = 0
            for round in 0..<60 {
                let cost = 1 + round % 2
                let claims = [
                    RateLimitClaim("account", key: "ana", cost: cost), RateLimitClaim("paced", key: "ana", cost: cost),
                ]
                try await limits.wait(.milliseconds(round * 97 % 1_000))
                guard let wait = try await limits.store.admit(claims).refusal?.retryAfter else {
                    admitted += 1
                    continue
                }
                try await limits.wait(wait - .microseconds(1))
                try require(try await limits.store.admit(claims).refusal?.retryAfter, equals: .microseconds(1), "The wait")
                try await limits.wait(.microseconds(1))
                try await limits.requireAdmission(claims)
            }
            try require(admitted < 60, "Some requests should be refused")
        },
    ]

    /// Checks of refunds: a store returns the units of each refundable policy at most once, and only while the units are in the window.
    ///
    /// The result of `admit` contains a charge, which the caller passes to `refund`. A refusal and the result of `check` contain no charge.
    /// A refund after the window must return nothing, because the units have already become available to later requests.
    ///
    /// Common causes of failures:
    /// - *Refunds a charge once*: the store subtracts units each time, because it doesn't record that a charge was refunded.
    /// - *Admits immediately after a refund*: the store doesn't discard a cached refusal.
    /// - *Refunds nothing after the window*: the store subtracts the units from the usage of later requests.
    private static let refunds: [RateLimitStoreCheck] = [
        .init("Refunds a charge once, and only its refundable part", joint + [RateLimitRule(paced)]) { limits in
            let claims = [
                RateLimitClaim("account", key: "ana", isRefundable: true), RateLimitClaim("address", key: "::1"),
                RateLimitClaim("paced", key: "ana", cost: 2, isRefundable: true),
            ]
            try await limits.requireAdmission(claims)
            let response = try await limits.requireAdmission(claims)
            try await limits.requireRemaining(claims, [0, 1, 1])
            guard let charge = response.charge else { throw Difference(description: "An admission should report its charge") }
            try require(charge.policies, equals: ["account", "paced"], "The refundable policies")
            try await limits.store.refund(charge, under: ["account"])
            try await limits.requireRemaining(claims, [1, 1, 1])
            try await limits.store.refund(charge, under: nil)
            try await limits.requireRemaining(claims, [1, 1, 3])
            try await limits.store.refund(charge, under: nil)
            try await limits.requireRemaining(claims, [1, 1, 3])
            try require(charge.policies, equals: [], "The refundable policies")
        },
        .init("Admits immediately after a refund", joint) { limits in
            let claim = [RateLimitClaim("account", key: "ana", isRefundable: true)]
            try await limits.requireAdmission(claim)
            let charge = try await limits.requireAdmission(claim).charge
            try await limits.requireRefusal(claim, under: account, for: .seconds(60))
            if let charge { try await limits.store.refund(charge, under: nil) }
            try await limits.requireAdmission(claim)
        },
        .init("Reports no charge of refused requests and checks", joint) { limits in
            let claim = [RateLimitClaim("account", key: "ana", isRefundable: true)]
            try require(try await limits.store.check(claim).charge == nil, "A check should have no charge")
            for _ in 0..<2 { try await limits.requireAdmission(claim) }
            try require(try await limits.store.admit(claim).charge == nil, "A refusal should have no charge")
            let plain = try await limits.requireAdmission([RateLimitClaim("account", key: "eva")])
            try require(plain.charge == nil, "A claim that is not refundable should have no charge")
        },
        .init("Refunds nothing after the window", joint) { limits in
            let claim = [RateLimitClaim("account", key: "ana", isRefundable: true)]
            let charge = try await limits.requireAdmission(claim).charge
            try await limits.wait(.seconds(61))
            for _ in 0..<2 { try await limits.requireAdmission(claim) }
            if let charge { try await limits.store.refund(charge, under: nil) }
            try await limits.requireRemaining(claim, [0])
        },
    ]

    /// Checks of a change of a rule under which the store has already counted requests. If the quota, the window or the algorithm changes,
    /// the store must preserve this usage.
    ///
    /// An operator can change a limit during an attack. A store that discards the usage would then admit the full quota once more. A store
    /// that converts the usage too strictly would refuse clients that are below the new limit.
    ///
    /// While a rule is off, the store counts nothing for the rule. The store must preserve the usage until an operator switches the rule on
    /// again.
    ///
    /// Common causes of failures:
    /// - *Keeps usage when a policy is replaced*: the store still removes the usage of a key after the old, shorter window.
    /// - *Lowers and raises a quota, and switches a rule off and on*: the store removes the units that exceed the lower quota. These units
    ///   must count again after the operator raises the quota.
    /// - *Converts usage to another algorithm, and back*: the store interprets the value of one algorithm as the value of the other.
    /// - *Converts the strict GCRA to other numbers*: the store stores the instant of the GCRA, but not the interval between units from
    ///   which it computed this instant.
    private static let changes: [RateLimitStoreCheck] = [
        .init("Keeps usage when a policy is replaced", joint) { limits in
            let claim = [RateLimitClaim("account", key: "ana")]
            for _ in 0..<2 { try await limits.requireAdmission(claim) }
            try await limits.wait(.seconds(30))
            let longer = RateLimitPolicy.requests(3, per: .seconds(90), name: "account")
            try await limits.store.change(to: RateLimitRule(longer))
            try await limits.requireRemaining(claim, [1])
            try await limits.requireAdmission(claim)
            try await limits.requireRefusal(claim, under: longer, for: .seconds(60))
            try await limits.wait(.seconds(59))
            try await limits.requireRemaining(claim, [0])
            try await limits.wait(.seconds(1))
            try await limits.requireRemaining(claim, [2])
        },
        .init("Lowers and raises a quota, and switches a rule off and on", joint) { limits in
            let claim = [RateLimitClaim("everybody")]
            for _ in 0..<4 { try await limits.requireAdmission(claim) }
            let lower = RateLimitPolicy.requests(2, per: .seconds(600), name: "everybody")
            try await limits.store.change(to: RateLimitRule(lower))
            try await limits.requireRefusal(claim, under: lower, for: .seconds(600))
            try await limits.store.change(to: RateLimitRule(lower, mode: .off))
            try require(try await limits.requireAdmission(claim).limits.isEmpty, "A rule that is off reports nothing")
            try await limits.store.change(to: RateLimitRule(everybody))
            try await limits.requireRemaining(claim, [1])
            try await limits.requireAdmission(claim)
            try await limits.requireRefusal(claim, under: everybody, for: .seconds(600))
        },
        .init("Converts usage to another algorithm, and back", joint) { limits in
            let claim = [RateLimitClaim("everybody")]
            for _ in 0..<3 { try await limits.requireAdmission(claim) }
            let even = RateLimitPolicy.requests(5, per: .seconds(600), name: "everybody", algorithm: .strictGCRA(burst: 4))
            try await limits.store.change(to: RateLimitRule(even))
            try await limits.requireRemaining(claim, [1])
            try await limits.requireAdmission(claim)
            try await limits.requireRefusal(claim, under: even, for: .seconds(300))
            try await limits.store.change(to: RateLimitRule(everybody))
            try await limits.requireRefusal(claim, under: everybody, for: .seconds(600))
            try await limits.wait(.seconds(600))
            try await limits.requireRemaining(claim, [5])
        },
        .init("Converts the strict GCRA to other numbers", [RateLimitRule(paced)]) { limits in
            let claim = [RateLimitClaim("paced", key: "ana")]
            for _ in 0..<3 { try await limits.requireAdmission(claim) }
            let slower = RateLimitPolicy.requests(10, per: .seconds(120), name: "paced", algorithm: .strictGCRA(burst: 5))
            try await limits.store.change(to: RateLimitRule(slower))
            try await limits.requireRemaining(claim, [2])
            for _ in 0..<2 { try await limits.requireAdmission(claim) }
            try await limits.requireRefusal(claim, under: slower, for: .seconds(20))
            try await limits.wait(.seconds(20))
            try await limits.requireAdmission(claim)
        },
    ]

    /// Checks of a hundred concurrent calls of two stores on the same data: the stores must not exceed a limit, and must not count refused
    /// requests under any policy.
    ///
    /// Pass a second store to find races between processes. Without a second store, the checks find only races within one process.
    ///
    /// Common causes of failures:
    /// - *Admits exactly the quota to a hundred concurrent callers*: the store reads the usage and writes it in two steps. Use one script
    ///   or one transaction.
    /// - *Counts nothing of concurrent requests that another policy refuses*: the store counts each policy separately, and removes the
    ///   counts of a refused request only afterwards. Until then, the counts refuse other requests.
    /// - *Counts with another store on the same data*: the digests of keys depend on a secret that the two stores don't share.
    private static let concurrency: [RateLimitStoreCheck] = [
        .init("Admits exactly the quota to a hundred concurrent callers", joint) { limits in
            let responses = try await concurrently(100) { number in
                try await (number % 2 == 0 ? limits.store : limits.other).admit([RateLimitClaim("everybody")])
            }
            try require(responses.count(where: \.isAdmitted), equals: 5, "The number of admissions")
        },
        .init("Counts nothing of concurrent requests that another policy refuses", joint) { limits in
            let responses = try await concurrently(100) { number in
                try await (number % 2 == 0 ? limits.store : limits.other).admit(claims("ana", "\(number % 3)"))
            }
            try require(responses.count(where: \.isAdmitted), equals: 2, "The number of admissions")
            try await limits.requireRemaining([RateLimitClaim("everybody")], [3])
            let addresses = try await limits.store.check([RateLimitClaim("address", key: "0")]).limits.map(\.remaining)
            try require(addresses.reduce(0, +) >= 1, "At most two units of an address are counted")
        },
        .init("Counts with another store on the same data", joint) { limits in
            try await limits.requireAdmission(claims("ana", "::1"))
            try require(try await limits.other.admit(claims("ana", "::2")).isAdmitted, "The other store should admit")
            try await limits.requireRefusal(claims("ana", "::3"), under: account, for: .seconds(60))
            try await limits.requireRemaining([RateLimitClaim("everybody")], [3])
        },
    ]
}
