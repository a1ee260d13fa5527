import HTTPTypes
import HoldfastTesting
import RateLimiting
import ResilientHTTP
import Testing

@Suite struct ThrottlerTests {
    private let clock = ManualClock()
    private let activities = Endpoint(.get, "/api/activities")

    private func throttler(_ policy: ThrottlePolicy = .appsInTheField, capacity: Int = 1_000) -> Throttler {
        Throttler(policy: policy, capacity: capacity, clock: clock, randomness: SplitMix64(seed: 1))
    }

    @Test("Admits 10 of 11 calls in 30 s; the 11th waits until the first is a minute old")
    func elevenCalls() async throws {
        let throttler = throttler()
        for call in 0..<10 {
            #expect(try await throttler.decide(activities) == .allowed(remaining: 9 - call))
            clock.advance(by: .seconds(3))
        }
        let refused = try await throttler.decide(activities)
        #expect(refused == .held(Hold(.quota, limit: "minute", wait: .seconds(30))))
        clock.advance(by: .seconds(30) - .nanoseconds(1))
        #expect(try await throttler.decide(activities).wait == .nanoseconds(1))
        clock.advance(by: .nanoseconds(1))
        #expect(try await throttler.decide(activities).isAllowed)
    }

    @Test("10 per minute to activities, 20 to streams, 30 to each other endpoint")
    func standard() async throws {
        let throttler = throttler()
        for (endpoint, quota) in [
            (activities, 10), (Endpoint(.post, "/api/activities"), 10), (Endpoint(.get, "/api/streams"), 20),
            (Endpoint(.get, "/api/activities/{id}"), 30), (Endpoint(.get, "/api/streams/{id}"), 30), (Endpoint(.get, "/x"), 30),
        ] {
            var count = 0
            while try await throttler.decide(endpoint).isAllowed { count += 1 }
            #expect(count == quota, "\(endpoint)")
        }
    }

    @Test("Enforces a minute and an hour together, by route or by method and route")
    func joint() async throws {
        var policy = ThrottlePolicy.appsInTheField
        let minute = RateLimitPolicy.requests(10, per: .seconds(60), name: "minute")
        policy.limit("/api/activities", to: minute, .requests(12, per: .seconds(3_600), name: "hour"))
        policy.limit("/api/activities", method: .delete, to: .requests(1, per: .seconds(60)))
        let throttler = throttler(policy)
        for _ in 0..<10 { #expect(try await throttler.decide(activities).isAllowed) }
        clock.advance(by: .seconds(60))
        for _ in 0..<2 { #expect(try await throttler.decide(activities).isAllowed) }
        #expect(try await throttler.decide(activities) == .held(Hold(.quota, limit: "hour", wait: .seconds(3_540))))
        #expect(try await throttler.decide(Endpoint(.delete, "/api/activities")).isAllowed)
        #expect(try await !throttler.decide(Endpoint(.delete, "/api/activities")).isAllowed)
    }

    @Test("Each user has separate quotas")
    func users() async throws {
        let throttler = throttler()
        for user in ["ana", "eva", nil] {
            for _ in 0..<10 { #expect(try await throttler.decide(activities, user: user).isAllowed) }
            #expect(try await !throttler.decide(activities, user: user).isAllowed)
        }
        try await throttler.reset(user: "ana")
        #expect(throttler.status(of: activities, user: "ana").remaining == 10)
        #expect(throttler.status(of: activities, user: "eva").remaining == 0)
    }

    @Test("Reports count, limit, remaining and next admission without writing anything")
    func numbers() async throws {
        let throttler = throttler()
        for _ in 0..<4 { _ = try await throttler.decide(activities) }
        clock.advance(by: .seconds(20))
        for _ in 0..<30 { _ = try await throttler.decide(Endpoint(.get, "/a")) }
        for _ in 0..<3 {
            let status = throttler.status(of: activities)
            #expect((status.count, status.limit, status.remaining, status.nextAdmission, status.waiting) == (4, 10, 6, .zero, 0))
        }
        let all = throttler.statuses()
        #expect(all.map(\.endpoint.description) == ["GET /a", "GET /api/activities"])
        #expect(all.map(\.nextAdmission) == [.seconds(60), .zero])
        #expect(throttler.status(of: Endpoint(.get, "/never")).remaining == 30)
        #expect(throttler.statuses().count == 2)
    }

    @Test("A reset restores one endpoint's quota, or all of a user's")
    func reset() async throws {
        let throttler = throttler()
        let other = Endpoint(.get, "/other")
        for endpoint in [activities, other] {
            while try await throttler.decide(endpoint).isAllowed {}
        }
        try await throttler.reset(activities)
        #expect(throttler.status(of: activities).remaining == 10)
        #expect(throttler.status(of: other).remaining == 0)
        try await throttler.reset()
        #expect(throttler.status(of: other).remaining == 30)
    }

    @Test("Listeners get each refusal (slow ones lose the oldest), users one per series")
    func refusals() async throws {
        var policy = ThrottlePolicy.appsInTheField
        policy.refusalsWorthReporting = 3
        let throttler = throttler(policy)
        let (all, last) = (throttler.refusals(), throttler.refusals(buffering: 2))
        for _ in 0..<15 { _ = try await throttler.decide(activities) }
        clock.advance(by: .seconds(60))
        for _ in 0..<11 { _ = try await throttler.decide(activities) }
        var seen: [ThrottleRefusal] = []
        for await refusal in all {
            seen.append(refusal)
            if seen.count == 6 { break }
        }
        #expect(seen.map(\.inARow) == [1, 2, 3, 4, 5, 1])
        #expect(seen.map(\.isWorthReporting) == [false, false, true, false, false, false])
        #expect(seen.allSatisfy { $0.endpoint == activities && $0.count == 10 && $0.limit == 10 })
        #expect(seen.first?.hold == Hold(.quota, limit: "minute", wait: .seconds(60)))
        var late: [Int] = []
        for await refusal in last {
            late.append(refusal.inARow)
            if late.count == 2 { break }
        }
        #expect(late == [5, 1])
    }

    @Test("Repeated early calls wait longer if the policy defines it")
    func penalty() async throws {
        var policy = ThrottlePolicy(others: .requests(1, per: .seconds(10)))
        policy.penalty = RefusalPenalty(after: 2, first: .seconds(4), longest: .seconds(8))
        let throttler = throttler(policy)
        var waits: [Duration] = []
        for _ in 0..<5 { waits.append(try await throttler.decide(activities).wait) }
        #expect(waits == [0, 10, 14, 18, 18].map { .seconds($0) })
    }

    @Test("Bounds the memory for any endpoints and users; new ones past it share a quota")
    func bounded() async throws {
        let throttler = throttler(capacity: 10)
        var allowed = 0
        for number in 0..<200 {
            allowed +=
                try await throttler.decide(Endpoint(.get, try #require(RouteTemplate(parsing: "/a\(number)")))).isAllowed ? 1 : 0
        }
        #expect(allowed == 10 + 30)
        #expect(throttler.statuses().count == 11)
        clock.advance(by: .seconds(60))
        for number in 0..<200 {
            _ = try await throttler.decide(Endpoint(.get, try #require(RouteTemplate(parsing: "/b\(number)"))))
        }
        #expect(throttler.statuses().count == 11, "what is as good as new makes room")
    }

    @Test("A thousand concurrent callers get exactly the quota")
    func race() async throws {
        let throttler = Throttler(clock: clock)
        let allowed = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<1_000 { group.addTask { try await throttler.decide(activities).isAllowed } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(allowed == 10)
    }

    @Test("Random decisions of random users never exceed the policy in any window")
    func property() async throws {
        var generator = SplitMix64(seed: 7)
        var policy = ThrottlePolicy(others: .requests(3, per: .seconds(1), name: "a"), .requests(5, per: .seconds(10), name: "b"))
        policy.penalty = RefusalPenalty(after: 10, first: .milliseconds(1), longest: .milliseconds(100))
        let throttler = throttler(policy, capacity: 6)
        let endpoints: [Endpoint] = [activities, Endpoint(.get, "/b"), Endpoint(.put, "/b")]
        struct Key: Hashable { var user: String, endpoint: Endpoint }
        var admissions: [Key: [Duration]] = [:]
        for _ in 0..<20_000 {
            let key = Key(
                user: Bool.random(using: &generator) ? "ana" : "eva",
                endpoint: try #require(endpoints.randomElement(using: &generator))
            )
            let decision = try await throttler.decide(key.endpoint, user: key.user)
            if decision.isAllowed { admissions[key, default: []].append(clock.now.offset) }
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: clock.advance(by: .milliseconds(Int.random(in: 0...2_000, using: &generator)))
            case 1: clock.advance(by: decision.wait)
            default: break
            }
        }
        #expect(admissions.count == 6)
        for instants in admissions.values {
            #expect(instants.count > 100)
            #expect(zip(instants, instants.dropFirst(3)).allSatisfy { $1 - $0 >= .seconds(1) })
            #expect(zip(instants, instants.dropFirst(5)).allSatisfy { $1 - $0 >= .seconds(10) })
        }
    }
}
