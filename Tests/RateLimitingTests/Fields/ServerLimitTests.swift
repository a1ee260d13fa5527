import HoldfastTesting
import RateLimiting
import Testing

@Suite struct ServerLimitTests {
    /// Tue, 14 Nov 2023 22:13:20 GMT
    private static let now: Int64 = 1_700_000_000
    private static let minute = Duration.seconds(60)

    static let drafts: [ServerFields] = [
        ServerFields(
            "draft 00",
            "RateLimit-Limit: 100\nRateLimit-Remaining: 50\nRateLimit-Reset: 30",
            ServerLimit(quota: 100, remaining: 50, reset: .seconds(30))
        ),
        ServerFields(
            "draft 01",
            "RateLimit-Limit: 10, 10;w=1;burst=1000, 1000;w=3600\nRateLimit-Remaining: 9\nRateLimit-Reset: 1",
            ServerLimit(quota: 10, window: .seconds(1), remaining: 9, reset: .seconds(1))
        ),
        ServerFields(
            "draft 02",
            "RateLimit-Limit: 100, 100;window=60\nRateLimit-Remaining: 7\nRateLimit-Reset: 9",
            ServerLimit(quota: 100, remaining: 7, reset: .seconds(9))
        ),
        ServerFields(
            "draft 03",
            "RateLimit-Limit: 100\nRateLimit-Policy: 100;w=60\nRateLimit-Remaining: 7\nRateLimit-Reset: 9",
            ServerLimit(quota: 100, window: minute, remaining: 7, reset: .seconds(9))
        ),
        ServerFields(
            "draft 04",
            "RateLimit-Limit: 10\nRateLimit-Policy: 10;w=1, 50;w=60\nRateLimit-Remaining: 9\nRateLimit-Reset: 1",
            ServerLimit(quota: 10, window: .seconds(1), remaining: 9, reset: .seconds(1))
        ),
        ServerFields(
            "draft 05, without a rest",
            "RateLimit-Limit: 100\nRateLimit-Reset: 9",
            ServerLimit(quota: 100, reset: .seconds(9))
        ),
        ServerFields(
            "draft 06",
            "RateLimit-Policy: 100;w=60;comment=\"fixed, window\"\nRateLimit-Limit: 100\nRateLimit-Remaining: 0\nRateLimit-Reset: 0",
            ServerLimit(quota: 100, window: minute, remaining: 0, reset: .zero)
        ),
        ServerFields(
            "draft 07",
            "RateLimit: limit=100, remaining=50, reset=30\nRateLimit-Policy: 100;w=60",
            ServerLimit(quota: 100, window: minute, remaining: 50, reset: .seconds(30))
        ),
        ServerFields(
            "draft 08",
            "RateLimit: \"default\";r=50;t=30\nRateLimit-Policy: \"default\";q=100;w=60",
            ServerLimit(name: "default", quota: 100, window: minute, remaining: 50, reset: .seconds(30))
        ),
        ServerFields(
            "draft 09",
            "RateLimit: \"permin\";r=50\nRateLimit: \"perhr\";r=999;t=99\nRateLimit-Policy: \"permin\";q=50;w=60,\"perhr\";q=1000;w=3600",
            ServerLimit(name: "permin", quota: 50, window: minute, remaining: 50),
            ServerLimit(name: "perhr", quota: 1_000, window: .seconds(3_600), remaining: 999, reset: .seconds(99))
        ),
        ServerFields(
            "draft 10",
            "RateLimit: \"default\";r=300000000;t=60;pk=:QXBwLTk5OQ==:\nRateLimit-Policy: \"default\";q=65535;qu=\"content-bytes\";w=10",
            ServerLimit(
                name: "default",
                quota: 65_535,
                unit: .contentBytes,
                window: .seconds(10),
                remaining: 300_000_000,
                reset: minute,
                partitionKey: Array("App-999".utf8)
            )
        ),
        ServerFields(
            "draft 10, a policy of two keys",
            "RateLimit: \"p\";r=1;pk=:AQ==:, \"p\";r=2;pk=:Ag==:\nRateLimit-Policy: \"p\";q=9;w=60;pk=:Ag==:",
            ServerLimit(name: "p", remaining: 1, partitionKey: [1]),
            ServerLimit(name: "p", quota: 9, window: minute, remaining: 2, partitionKey: [2])
        ),
        ServerFields(
            "draft 10, only policies",
            "RateLimit-Policy: \"day\";q=10;w=86400",
            ServerLimit(name: "day", quota: 10, window: .seconds(86_400))
        ),
        ServerFields(
            "draft 10, its own example against its grammar",
            "RateLimit: quota;r=1;t=1",
            ServerLimit(name: "quota", remaining: 1, reset: .seconds(1))
        ),
    ]

    static let vendors: [ServerFields] = [
        ServerFields(
            "GitHub",
            "X-RateLimit-Limit: 5000\nX-RateLimit-Remaining: 4999\nX-RateLimit-Used: 1\nX-RateLimit-Reset: 1700000060\nX-RateLimit-Resource: core",
            ServerLimit(name: "core", quota: 5_000, remaining: 4_999, reset: minute)
        ),
        ServerFields(
            "GitLab",
            "RateLimit-Limit: 60\nRateLimit-Name: throttle\nRateLimit-Observed: 67\nRateLimit-Remaining: 0\nRateLimit-Reset: 1700000020",
            ServerLimit(quota: 60, remaining: 0, reset: .seconds(20))
        ),
        ServerFields(
            "X",
            "x-rate-limit-limit: 15\nx-rate-limit-remaining: 1\nx-rate-limit-reset: 1700000001",
            ServerLimit(quota: 15, remaining: 1, reset: .seconds(1))
        ),
        ServerFields(
            "Discord",
            "X-RateLimit-Limit: 5\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset: 1700000123.123\nX-RateLimit-Reset-After: 1.001\nX-RateLimit-Bucket: abcd1234",
            ServerLimit(name: "abcd1234", quota: 5, remaining: 0, reset: .seconds(2))
        ),
        ServerFields("Discord, old", "X-RateLimit-Reset: 1700000123.123", ServerLimit(reset: .seconds(124))),
        ServerFields(
            "Reddit",
            "X-Ratelimit-Used: 1\nX-Ratelimit-Remaining: 99.0\nX-Ratelimit-Reset: 300",
            ServerLimit(quota: 100, remaining: 99, reset: .seconds(300))
        ),
        ServerFields("Shopify", "X-Shopify-Shop-Api-Call-Limit: 32/40", ServerLimit(quota: 40, remaining: 8)),
        ServerFields("Laravel", "X-RateLimit-Limit: 60\nX-RateLimit-Remaining: 59", ServerLimit(quota: 60, remaining: 59)),
        ServerFields(
            "Laravel, refused",
            "X-RateLimit-Limit: 60\nX-RateLimit-Remaining: 0\nRetry-After: 21\nX-RateLimit-Reset: 1700000021",
            ServerLimit(quota: 60, remaining: 0, reset: .seconds(21))
        ),
        ServerFields(
            "express-rate-limit, draft 8",
            "RateLimit-Policy: \"100-in-15min\"; q=100; w=900; pk=:MTIzNDU2Nzg5MGFi:\nRateLimit: \"100-in-15min\"; r=99; t=900",
            ServerLimit(name: "100-in-15min", quota: 100, window: .seconds(900), remaining: 99, reset: .seconds(900))
        ),
        ServerFields(
            "express-rate-limit, draft 7",
            "RateLimit-Policy: 100;w=900\nRateLimit: limit=100, remaining=99, reset=900",
            ServerLimit(quota: 100, window: .seconds(900), remaining: 99, reset: .seconds(900))
        ),
        ServerFields(
            "express-rate-limit, legacy",
            "X-RateLimit-Limit: 100\nX-RateLimit-Remaining: 99\nX-RateLimit-Reset: 1700000900",
            ServerLimit(quota: 100, remaining: 99, reset: .seconds(900))
        ),
        ServerFields(
            "Cloudflare",
            "Ratelimit: \"default\";r=1199;t=300\nRatelimit-Policy: \"default\";q=1200;w=300",
            ServerLimit(name: "default", quota: 1_200, window: .seconds(300), remaining: 1_199, reset: .seconds(300))
        ),
        ServerFields("Django REST framework, which tells the wait only", "Retry-After: 30"),
        ServerFields("Stripe, which tells nothing", "Stripe-Rate-Limited-Reason: global-rate"),
        ServerFields(
            "Vimeo",
            "X-RateLimit-Limit: 9\nX-RateLimit-Reset: Tue, 14 Nov 2023 22:14:20 GMT",
            ServerLimit(quota: 9, reset: minute)
        ),
        ServerFields("Akamai", "X-RateLimit-Next: 2023-11-14T22:13:29.500Z", ServerLimit(reset: .seconds(10))),
        ServerFields(
            "OpenAI",
            """
            x-ratelimit-limit-requests: 60\nx-ratelimit-remaining-requests: 59\nx-ratelimit-reset-requests: 1.2s
            x-ratelimit-limit-tokens: 150000\nx-ratelimit-remaining-tokens: 149984\nx-ratelimit-reset-tokens: 6m0s
            """,
            ServerLimit(name: "requests", quota: 60, remaining: 59, reset: .seconds(2)),
            ServerLimit(name: "tokens", quota: 150_000, remaining: 149_984, reset: .seconds(360))
        ),
        ServerFields(
            "Anthropic",
            """
            anthropic-ratelimit-requests-limit: 50\nanthropic-ratelimit-requests-remaining: 49
            anthropic-ratelimit-requests-reset: 2023-11-14T22:13:29Z
            anthropic-ratelimit-tokens-limit: 50000\nanthropic-ratelimit-tokens-remaining: 0
            """,
            ServerLimit(name: "requests", quota: 50, remaining: 49, reset: .seconds(9)),
            ServerLimit(name: "tokens", quota: 50_000, remaining: 0)
        ),
        ServerFields(
            "Linear",
            """
            X-RateLimit-Requests-Limit: 2500\nX-RateLimit-Requests-Remaining: 2499
            X-RateLimit-Requests-Reset: 1700000009000
            X-RateLimit-Complexity-Limit: 3000000\nX-RateLimit-Complexity-Remaining: 2999000
            """,
            ServerLimit(name: "requests", quota: 2_500, remaining: 2_499, reset: .seconds(9)),
            ServerLimit(name: "complexity", quota: 3_000_000, remaining: 2_999_000)
        ),
        ServerFields("milliseconds", "X-RateLimit-Reset: 1700000001500", ServerLimit(reset: .milliseconds(1_500))),
        ServerFields("a leap day", "X-RateLimit-Reset: 2024-02-29T00:00:00Z", ServerLimit(reset: .seconds(9_164_800))),
        ServerFields("a reset that is over", "X-RateLimit-Reset: 1600000000", ServerLimit(reset: .zero)),
    ]

    /// Unusual but valid structured fields (RFC 9651), and invalid ones.
    static let edges: [ServerFields] = [
        ServerFields(
            "separators in quotes, a bare name, blanks",
            "RateLimit: \"a,b\" ; r=50\t; t=30, quota ;r=1",
            ServerLimit(name: "a,b", remaining: 50, reset: .seconds(30)),
            ServerLimit(name: "quota", remaining: 1)
        ),
        ServerFields("escapes", #"RateLimit: "a\"b\\c;";r=1"#, ServerLimit(name: #"a"b\c;"#, remaining: 1)),
        ServerFields("of a repeated parameter the last", "RateLimit: \"a\";r=1;r=2", ServerLimit(name: "a", remaining: 2)),
        ServerFields(
            "a comment, a flag, capitals",
            "RateLimit: \"a\";acme-x=\"r=9\";flag;R=1",
            ServerLimit(name: "a", remaining: 1)
        ),
        ServerFields(
            "a key without padding, in the other alphabet",
            "RateLimit: \"a\";r=1;pk=:-_8:",
            ServerLimit(name: "a", remaining: 1, partitionKey: [251, 255])
        ),
        ServerFields(
            "a key that is none",
            "RateLimit: \"a\";r=1;pk=:a*:, \"b\";r=1;pk=:A:, \"c\";r=1;pk=x",
            ServerLimit(name: "a", remaining: 1),
            ServerLimit(name: "b", remaining: 1),
            ServerLimit(name: "c", remaining: 1)
        ),
        ServerFields(
            "a mark after a comma hides it not",
            "RateLimit: \"a\";r=1,\u{301}b;r=2",
            ServerLimit(name: "a", remaining: 1),
            ServerLimit(name: "\u{301}b", remaining: 2)
        ),
        ServerFields(
            "the largest integer of a structured field",
            "RateLimit: \"a\";r=999999999999999",
            ServerLimit(name: "a", remaining: 999_999_999_999_999)
        ),
        ServerFields("no rest", "RateLimit: \"default\";t=1"), ServerFields("an open quote", "RateLimit: \"open;r=1"),
        ServerFields("an inner list", "RateLimit: (\"a\" \"b\");r=1"),
        ServerFields("empty", "RateLimit: , ,;,\nRateLimit-Policy: "),
        ServerFields("a window of nothing", "RateLimit-Policy: \"a\";q=1;w=0", ServerLimit(name: "a", quota: 1)),
        ServerFields("signs", "RateLimit: \"a\";r=+1, \"b\";r=-1"),
        ServerFields("more digits than an integer has", "RateLimit: \"a\";r=1000000000000000"),
        ServerFields("no dates", "X-RateLimit-Reset: Tue, 14 Foo 2023 22:14:20 GMT\nX-RateLimit-Next: 2023-13-14T22:13:29Z"),
        ServerFields("another zone", "X-RateLimit-Reset: 2023-11-14T22:13:29+01:00"),
        ServerFields("garbage", "X-RateLimit-Limit: -3\nX-RateLimit-Reset: soon\nX-RateLimit-Remaining: 99999999999999999999"),
        ServerFields("Shopify's garbage", "X-Shopify-Shop-Api-Call-Limit: 32/40/2"), ServerFields("nothing", ""),
    ]

    @Test("Reads every draft and dialect, and treats garbage as absent", arguments: drafts + vendors + edges)
    func lenient(fields: ServerFields) {
        #expect(ServerLimit.decode(now: Self.now, field: fields.values) == fields.limits)
    }

    @Test("Reading any bytes terminates and returns no negative time")
    func fuzz() {
        var generator = SplitMix64(seed: 8)
        let alphabet = Array("0123456789.,;=:\"\\() rtqwpk-+eEZTGMTs\u{301}\u{0}".unicodeScalars)
        let seeds = (Self.drafts + Self.vendors + Self.edges)
        for round in 0..<Rounds.share(1, of: 5) {
            let seed = seeds[round % seeds.count]
            let limits = ServerLimit.decode(now: Self.now) { name in
                seed.values(name).map { value in
                    var scalars = Array(value.unicodeScalars)
                    for _ in 0..<3 {
                        let place = Int.random(in: 0...scalars.count, using: &generator)
                        if let scalar = alphabet.randomElement(using: &generator) { scalars.insert(scalar, at: place) }
                        if let last = scalars.indices.randomElement(using: &generator) { scalars.remove(at: last) }
                    }
                    return String(String.UnicodeScalarView(scalars))
                }
            }
            #expect(
                limits.allSatisfy { $0.reset ?? .zero >= .zero && $0.window ?? .seconds(1) > .zero && $0.remaining ?? 0 >= 0 }
            )
        }
        let long = [String(repeating: "a;r=1,", count: 100_000)]
        #expect(ServerLimit.decode(now: 0) { $0 == "ratelimit" ? long : [] }.count == 64)
    }
}
