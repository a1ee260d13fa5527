import RateLimiting
import Testing

@Suite struct RateLimitFieldsTests {
    private static let now: Int64 = 1_700_000_000

    @Test("Policies and what is left are said in the draft's own form, times rounded up")
    func strict() {
        let reset = RateLimitPolicy.requests(3, per: .seconds(3600), name: "reset-email")
        let odd = RateLimitPolicy.requests(1, per: .milliseconds(1), name: "a\"b\\é\n")
        #expect(RateLimitFields.policies([reset, odd]) == #""reset-email";q=3;w=3600, "a\"b\\__";q=1;w=1"#)
        #expect(RateLimitFields.limit(reset, remaining: 2, reset: .milliseconds(1_199_001)) == #""reset-email";r=2;t=1200"#)
        #expect(RateLimitFields.limit(reset, remaining: -1, reset: .seconds(-1)) == #""reset-email";r=0;t=0"#)
    }

    static let answers: [([String: String], [ServerLimit])] = [
        (
            ["ratelimit": #""a,b";r=50;t=30;pk=:YQ==:, quota;r=1"#, "ratelimit-policy": #""a,b";q=100;w=60"#],
            [
                ServerLimit(name: "a,b", quota: 100, window: .seconds(60), remaining: 50, reset: .seconds(30)),
                ServerLimit(name: "quota", remaining: 1),
            ]
        ),
        (["ratelimit": #""default";t=1"#], []),
        (["ratelimit-policy": #""day";q=10;w=86400"#], [ServerLimit(name: "day", quota: 10, window: .seconds(86_400))]),
        (
            ["ratelimit": "limit=100, remaining=50, reset=30"],
            [ServerLimit(quota: 100, remaining: 50, reset: .seconds(30))]
        ),
        (
            [
                "ratelimit-limit": "100, 100;w=60", "ratelimit-policy": "100;w=60", "ratelimit-remaining": "7",
                "ratelimit-reset": "9",
            ],
            [ServerLimit(quota: 100, window: .seconds(60), remaining: 7, reset: .seconds(9))]
        ),
        (
            ["ratelimit-limit": "60", "ratelimit-remaining": "5", "ratelimit-reset": "1700000020"],
            [ServerLimit(quota: 60, remaining: 5, reset: .seconds(20))]
        ),
        (
            ["x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000060"],
            [ServerLimit(quota: 5_000, remaining: 0, reset: .seconds(60))]
        ),
        (
            ["x-rate-limit-limit": "15", "x-rate-limit-remaining": "1", "x-rate-limit-reset": "1700000001"],
            [ServerLimit(quota: 15, remaining: 1, reset: .seconds(1))]
        ),
        (
            ["x-ratelimit-used": "1", "x-ratelimit-remaining": "99.0", "x-ratelimit-reset": "300"],
            [ServerLimit(quota: 100, remaining: 99, reset: .seconds(300))]
        ),
        (["x-ratelimit-reset": "1700000001500"], [ServerLimit(reset: .milliseconds(1_500))]),
        (
            ["x-ratelimit-limit": "9", "x-ratelimit-reset": "Tue, 14 Nov 2023 22:14:20 GMT"],
            [ServerLimit(quota: 9, reset: .seconds(60))]
        ),
        (["x-ratelimit-next": "2023-11-14T22:13:29.500Z"], [ServerLimit(reset: .seconds(10))]),
        (["x-ratelimit-reset": "2024-02-29T00:00:00Z"], [ServerLimit(reset: .seconds(9_164_800))]),
        (["x-ratelimit-reset": "Tue, 14 Foo 2023 22:14:20 GMT"], []),
        (["x-ratelimit-reset": "2023-13-14T22:13:29Z"], []),
        (["x-ratelimit-reset": "2023-11-14T22:13:29+01:00"], []),
        (["x-ratelimit-reset": "1600000000"], [ServerLimit(reset: .zero)]),
        (["x-ratelimit-limit": "-3", "x-ratelimit-reset": "soon", "x-ratelimit-remaining": "99999999999999999999"], []),
        (["ratelimit": #""open;r=1"#], []),
        ([:], []),
    ]

    @Test("Every draft and dialect is understood, and garbage counts as absent", arguments: answers)
    func lenient(fields: [String: String], expected: [ServerLimit]) {
        #expect(ServerLimit.decode(now: Self.now) { fields[$0].map { [$0] } ?? [] } == expected)
    }
}
