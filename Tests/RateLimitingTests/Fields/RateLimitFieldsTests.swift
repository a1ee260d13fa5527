import HoldfastTesting
import RateLimiting
import Testing

@Suite struct RateLimitFieldsTests {
    private static let reset = RateLimitPolicy.requests(3, per: .seconds(3600), name: "reset-email")

    @Test("Writes policies and remaining quotas in the draft's form, with times rounded up")
    func strict() {
        let odd = RateLimitPolicy.requests(1, per: .milliseconds(1), name: "a\"b\\é\n")
        let bytes = RateLimitPolicy.requests(65_535, per: .seconds(10), name: "peruser", unit: .contentBytes)
        #expect(RateLimitFields.policies([Self.reset, odd]) == #""reset-email";q=3;w=3600, "a\"b\\__";q=1;w=1"#)
        #expect(
            RateLimitFields.policy(bytes, partitionKey: [1, 2, 255])
                == #""peruser";q=65535;qu="content-bytes";w=10;pk=:AQL/:"#
        )
        #expect(
            RateLimitFields.limit(Self.reset, remaining: 2, reset: .milliseconds(1_199_001)) == #""reset-email";r=2;t=1200"#
        )
        #expect(
            RateLimitFields.limit(Self.reset, remaining: -1, reset: .seconds(-1), partitionKey: [])
                == #""reset-email";r=0;t=0;pk=::"#
        )
    }

    @Test("Replaces characters that structured fields can't carry, and escapes quotes")
    func quoting() {
        var generator = SplitMix64(seed: 7)
        let samples: [Unicode.Scalar] = [
            "a", "\"", "\\", " ", "~", "\u{7F}", "\u{1F}", "\u{E9}", "\u{2028}", "\u{1F426}", "\u{301}",
        ]
        for _ in 0..<500 {
            let scalars = (0..<Int.random(in: 0...12, using: &generator)).compactMap { _ in
                samples.randomElement(using: &generator)
            }
            let name = scalars.reduce(into: "") { $0.unicodeScalars.append($1) }
            let quoted = scalars.map { scalar in
                switch scalar {
                case "\"", "\\": "\\\(scalar)"
                case " "..."~": String(scalar)
                default: "_"
                }
            }
            let policy = RateLimitPolicy.requests(Int(Int32.max), per: .seconds(315_360_000), name: name)
            #expect(RateLimitFields.policies([policy]) == "\"\(quoted.joined())\";q=2147483647;w=315360000")
            let limit = RateLimitFields.limit(policy, remaining: .max, reset: .seconds(Int64.max))
            #expect(limit == "\"\(quoted.joined())\";r=\(Int.max);t=\(Int64.max)")
        }
    }

    private func result(wait: Duration?, hidden: Bool = false) -> RateLimitResult {
        RateLimitResult(
            limits: [.init(policy: Self.reset, isVisible: !hidden, remaining: 0, reset: .seconds(59), partitionKey: [7])],
            refusal: .init(policy: Self.reset, retryAfter: wait)
        )
    }

    @Test("A refusal's delay is rounded up and never before the reset of the used-up quota")
    func refused() {
        let fields = RateLimitFields.fields(of: result(wait: .milliseconds(59_001)))
        #expect(fields.map(\.name) == ["RateLimit-Policy", "RateLimit", "Retry-After"])
        #expect(
            fields.map(\.value) == [#""reset-email";q=3;w=3600;pk=:Bw==:"#, #""reset-email";r=0;t=59;pk=:Bw==:"#, "60"]
        )
        #expect(RateLimitFields.retryAfter(of: result(wait: .nanoseconds(1))) == "1")
    }

    @Test("Writes one limit and several limits in the same form")
    func several() {
        let other = RateLimitPolicy.requests(100, per: .seconds(60), name: "other", unit: .contentBytes)
        var limits: [RateLimitResult.Limit] = [.init(policy: Self.reset, remaining: 2, reset: .seconds(59))]
        #expect(RateLimitFields.policies(of: RateLimitResult(limits: limits)) == #""reset-email";q=3;w=3600"#)
        #expect(RateLimitFields.limits(of: RateLimitResult(limits: limits)) == #""reset-email";r=2;t=59"#)
        limits.append(.init(policy: other, isVisible: false, remaining: 9, reset: .zero))
        #expect(RateLimitFields.policies(of: RateLimitResult(limits: limits)) == #""reset-email";q=3;w=3600"#)
        limits.append(.init(policy: other, remaining: 9, reset: .zero))
        let policies = RateLimitFields.policies(of: RateLimitResult(limits: limits))
        #expect(policies == #""reset-email";q=3;w=3600, "other";q=100;qu="content-bytes";w=60"#)
        #expect(RateLimitFields.limits(of: RateLimitResult(limits: limits)) == #""reset-email";r=2;t=59, "other";r=9;t=0"#)
    }

    @Test("Sends no Retry-After if no delay helps, and omits hidden policies")
    func silent() {
        #expect(RateLimitFields.fields(of: result(wait: nil, hidden: true)).isEmpty)
        #expect(RateLimitFields.fields(of: result(wait: .seconds(9), hidden: true)).map(\.name) == ["Retry-After"])
        #expect(RateLimitFields.fields(of: RateLimitResult(limits: [])).isEmpty)
    }

    @Test("Reads back the values that it wrote")
    func roundTrip() {
        var generator = SplitMix64(seed: 5)
        let names = ["a", "a,b", "a;r=1", #"q"u"o\te"#, "", " ", "x=y", "(", "=", ":"]
        for _ in 0..<2_000 {
            let key = Bool.random(using: &generator) ? nil : (0..<Int.random(in: 0...9, using: &generator)).map { UInt8($0 * 29) }
            let limits = names.shuffled(using: &generator).prefix(Int.random(in: 1...3, using: &generator)).map { name in
                let unit: QuotaUnit = Bool.random(using: &generator) ? .requests : .concurrentRequests
                let quota = Int.random(in: 1...Int(Int32.max), using: &generator)
                let window = Duration.seconds(Int.random(in: 1...3_600, using: &generator))
                return RateLimitResult.Limit(
                    policy: .requests(quota, per: window, name: name, algorithm: .slidingWindow, unit: unit),
                    remaining: Int.random(in: 0...99, using: &generator),
                    reset: .seconds(Int.random(in: 0...99, using: &generator)),
                    partitionKey: key
                )
            }
            let fields = Dictionary(
                uniqueKeysWithValues: RateLimitFields.fields(of: .init(limits: limits)).map { ($0.name.lowercased(), [$0.value]) }
            )
            let expected = limits.map {
                ServerLimit(
                    name: $0.policy.name,
                    quota: $0.policy.quota,
                    unit: $0.policy.unit == .requests ? nil : $0.policy.unit,
                    window: $0.policy.window,
                    remaining: $0.remaining,
                    reset: $0.reset,
                    partitionKey: $0.partitionKey
                )
            }
            #expect(ServerLimit.decode(now: 0) { fields[$0] ?? [] } == expected)
        }
    }
}
