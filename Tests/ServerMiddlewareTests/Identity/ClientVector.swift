import ErrorContract
import HTTPTypes
import ServerMiddleware
import Testing

/// A request and its expected client. The proxies 10.0.0.0/8 and fd00::/8 are trusted.
struct ClientVector: Sendable, CustomTestStringConvertible {
    let peer: String
    var forwarded: [String] = []
    var xForwardedFor: [String] = []
    /// Any address of the expected client; `nil` if that is the peer.
    let expected: String?

    static func x(_ lines: String..., peer: String = "10.0.0.1", is expected: String?) -> ClientVector {
        ClientVector(peer: peer, xForwardedFor: lines, expected: expected)
    }

    static func f(_ lines: String..., peer: String = "10.0.0.1", is expected: String?) -> ClientVector {
        ClientVector(peer: peer, forwarded: lines, expected: expected)
    }

    static func peer(_ peer: String, is expected: String) -> ClientVector {
        ClientVector(peer: peer, expected: expected)
    }

    static func both(_ forwarded: String, _ xForwardedFor: String, is expected: String?) -> ClientVector {
        ClientVector(peer: "10.0.0.1", forwarded: [forwarded], xForwardedFor: [xForwardedFor], expected: expected)
    }

    var headers: HTTPFields {
        var headers: HTTPFields = [:]
        headers[values: .forwarded] = forwarded
        headers[values: .xForwardedFor] = xForwardedFor
        return headers
    }

    var identity: ClientIdentity {
        get throws { ClientIdentity(trustedProxies: [try IPRange("10.0.0.0/8"), try IPRange("fd00::/8")]) }
    }

    var client: ClientAddress {
        get throws {
            let peer = try #require(IPAddress(peer))
            return try identity.client(peer: peer, headers: headers)
        }
    }

    var testDescription: String { "\(peer) \(forwarded) \(xForwardedFor) → \(expected ?? "peer")" }

    static let all = peers + untrusted + chains + nodes + forwardedGrammar + bothFields

    /// Without fields.
    static let peers: [ClientVector] = [
        .peer("192.0.2.1", is: "192.0.2.1"), .peer("::ffff:192.0.2.1", is: "192.0.2.1"),
        .peer("::ffff:c000:201", is: "192.0.2.1"),
        .peer("10.0.0.1", is: "10.0.0.1"), .peer("2001:db8:1:2::1", is: "2001:db8:1:2:ffff:ffff:ffff:ffff"),
        .peer("2001:db8:1:2:3:4:5:6", is: "2001:db8:1:2::"), .peer("::1", is: "::"), .peer("fe80::1", is: "fe80::2"),
        .peer("64:ff9b::192.0.2.1", is: "192.0.2.1"), .peer("64:ff9b:0:0:0:0:c000:201", is: "192.0.2.1"),
        .peer("64:ff9b:1::192.0.2.1", is: "64:ff9b:1::"), .peer("2002:c000:201::1", is: "192.0.2.1"),
        .peer("2002:c000:201:ffff:1:2:3:4", is: "192.0.2.1"),
        .peer("2001:0:4136:e378:8000:63bf:3fff:fdd2", is: "2001:0:4136:e378::"),
        .peer("::ffff:0:192.0.2.1", is: "::ffff:0:192.0.2.2"), .peer("::192.0.2.1", is: "::1"),
    ]

    /// Fields of a peer that is not a trusted proxy are ignored.
    static let untrusted: [ClientVector] = [
        .x("198.51.100.1", peer: "192.0.2.1", is: nil), .x("127.0.0.1", peer: "192.0.2.1", is: nil),
        .x("10.0.0.1", peer: "192.0.2.1", is: nil), .x("198.51.100.1, 10.0.0.1", peer: "192.0.2.1", is: nil),
        .f("for=198.51.100.1", peer: "192.0.2.1", is: nil), .f("for=10.0.0.1", peer: "2001:db8::1", is: nil),
        .x("198.51.100.1", peer: "2002:a00:1::", is: "10.0.0.1"), .x("198.51.100.1", peer: "64:ff9b::10.0.0.1", is: "10.0.0.1"),
        .x("198.51.100.1", peer: "::10.0.0.1", is: nil), .x("198.51.100.1", peer: "11.0.0.1", is: nil),
        .x("198.51.100.1", peer: "fc00::1", is: nil), .x("198.51.100.1", peer: "127.0.0.1", is: nil),
    ]

    /// The right-most untrusted hop is the client, in any number of lines.
    static let chains: [ClientVector] = [
        .x("198.51.100.1", is: "198.51.100.1"), .x("198.51.100.1", peer: "::ffff:10.0.0.1", is: "198.51.100.1"),
        .x("198.51.100.1", peer: "fd00::1", is: "198.51.100.1"), .x("6.6.6.6, 198.51.100.1", is: "198.51.100.1"),
        .x("6.6.6.6,198.51.100.1", is: "198.51.100.1"), .x("6.6.6.6\t,\t 198.51.100.1 ", is: "198.51.100.1"),
        .x("198.51.100.1, 10.0.0.2", is: "198.51.100.1"), .x("198.51.100.1, 10.0.0.2, 10.0.0.3", is: "198.51.100.1"),
        .x("6.6.6.6, 198.51.100.1, 10.0.0.2", is: "198.51.100.1"), .x("198.51.100.1, fd00::2, 10.0.0.2", is: "198.51.100.1"),
        .x("198.51.100.1, ::ffff:10.0.0.2", is: "198.51.100.1"), .x("10.0.0.5", is: "10.0.0.5"),
        .x("10.0.0.6, 10.0.0.5", is: "10.0.0.6"), .x("6.6.6.6", "198.51.100.1", is: "198.51.100.1"),
        .x("198.51.100.1", "10.0.0.2", is: "198.51.100.1"), .x("6.6.6.6, 198.51.100.1", "10.0.0.3, 10.0.0.2", is: "198.51.100.1"),
        .x("10.0.0.1, 6.6.6.6", is: "6.6.6.6"), .x("127.0.0.1", is: "127.0.0.1"),
        .x("198.51.100.1, 2002:a00:2::", is: "10.0.0.2"),
        .x("198.51.100.1, 64:ff9b::10.0.0.2", is: "10.0.0.2"), .x("", is: nil), .x(" ", is: nil), .x(",", is: nil),
        .x(" , ,", is: nil),
        .x("198.51.100.1,", is: "198.51.100.1"), .x(",198.51.100.1, ,", is: "198.51.100.1"),
        .x("198.51.100.1", "", is: "198.51.100.1"),
        .f("for=198.51.100.1, for=10.0.0.2", is: "198.51.100.1"), .f("for=6.6.6.6", "for=198.51.100.1", is: "198.51.100.1"),
        .f("for=6.6.6.6, for=198.51.100.1", "for=10.0.0.3, for=\"[fd00::2]\"", is: "198.51.100.1"),
        .f("for=10.0.0.5", is: "10.0.0.5"),
    ]

    /// Notations around an address, and values that hide one. In the latter case the proxy that added the value is the client.
    static let nodes: [ClientVector] = [
        .x("198.51.100.1:4711", is: "198.51.100.1"), .x("198.51.100.1:", is: nil), .x("198.51.100.1:_p", is: "198.51.100.1"),
        .x("[2001:db8::1]", is: "2001:db8::"), .x("[2001:db8::1]:4711", is: "2001:db8::"), .x("2001:db8::1", is: "2001:db8::"),
        .x("2001:DB8:0:0:0:0:0:1", is: "2001:db8::"), .x("2001:db8::1:4711", is: "2001:db8::"), .x("fe80::1%eth0", is: "fe80::"),
        .x("[fe80::1%25eth0]:80", is: "fe80::"), .x("fe80::1%", is: nil), .x("198.51.100.1%eth0", is: nil),
        .x("::ffff:198.51.100.1", is: "198.51.100.1"), .x("[::ffff:198.51.100.1]:4711", is: "198.51.100.1"),
        .x("[::ffff:c633:6401]", is: "198.51.100.1"), .x("2002:c633:6401::9", is: "198.51.100.1"),
        .x("[64:ff9b::198.51.100.1]", is: "198.51.100.1"), .x("[198.51.100.1]", is: nil), .x("[198.51.100.1]:80", is: nil),
        .x("[2001:db8::1", is: nil), .x("2001:db8::1]", is: nil), .x("[2001:db8::1]80", is: nil), .x("[2001:db8::1]:x", is: nil),
        .x("[]", is: nil), .x("[", is: nil), .x("[[::1]]", is: nil), .x("198.51.100.1:123456", is: nil),
        .x("198.51.100.1:-1", is: nil),
        .x("198.51.100.1:80:80", is: nil), .x("unknown", is: nil), .x("_hidden", is: nil), .x("_SEVKISEK", is: nil),
        .x("198.51.100.1, unknown", is: nil), .x("198.51.100.1, _hidden", is: nil), .x("198.51.100.1, garbage", is: nil),
        .x("198.51.100.1, unknown, 10.0.0.2", is: "10.0.0.2"), .x("198.51.100.1, 010.0.0.2", is: nil),
        .x("198.51.100.1, 0x0a000002", is: nil), .x("198.51.100.1, 167772162", is: nil), .x("localhost", is: nil),
        .x("198.51.100.1 6.6.6.6", is: nil), .x("198.51.100.1;6.6.6.6", is: nil), .x("\"198.51.100.1\"", is: nil),
        .x("198.51.100.1, 10.0.0.256", is: nil), .x("<script>", is: nil), .x("for=198.51.100.1", is: nil),
        .x("198.51.100.1\u{A0}", is: nil),
        .x("１98.51.100.1", is: nil), .x("fe80::1%" + String(repeating: "z", count: 1_000), is: nil),
    ]

    /// RFC 7239, and violations of it.
    static let forwardedGrammar: [ClientVector] = [
        .f("for=198.51.100.1", is: "198.51.100.1"), .f("For=198.51.100.1", is: "198.51.100.1"),
        .f("FOR=198.51.100.1", is: "198.51.100.1"),
        .f("for=\"198.51.100.1\"", is: "198.51.100.1"), .f("for=\"198.51.100.1:4711\"", is: "198.51.100.1"),
        .f("for=198.51.100.1:4711", is: "198.51.100.1"), .f("for=\"[2001:db8:cafe::17]:4711\"", is: "2001:db8:cafe::"),
        .f("for=\"[2001:db8:cafe::17]\"", is: "2001:db8:cafe::"), .f("for=[2001:db8:cafe::17]:80", is: "2001:db8:cafe::"),
        .f("for=\"198.51.100.1:_gazonk\"", is: "198.51.100.1"),
        .f("for=198.51.100.1;proto=http;by=203.0.113.43", is: "198.51.100.1"),
        .f("by=203.0.113.43;proto=http;for=198.51.100.1", is: "198.51.100.1"),
        .f("proto=https ; for=198.51.100.1", is: "198.51.100.1"),
        .f("for=198.51.100.1;", is: "198.51.100.1"), .f(";for=198.51.100.1", is: "198.51.100.1"),
        .f("for=198.51.100.1;host=\"a,b;for=6.6.6.6\"", is: "198.51.100.1"),
        .f("for=6.6.6.6, for=198.51.100.1", is: "198.51.100.1"),
        .f("for=\"198.51.\\100.1\"", is: "198.51.100.1"), .f(", ,for=198.51.100.1,", is: "198.51.100.1"),
        .f("for=198.51.100.1;host=\"a\\\"b\"", is: "198.51.100.1"),
        .f("for=unknown", is: nil), .f("for=_hidden", is: nil), .f("for=\"_hidden\"", is: nil),
        .f("for=198.51.100.1, for=unknown", is: nil),
        .f("for=198.51.100.1, for=_hidden, for=10.0.0.2", is: "10.0.0.2"), .f("proto=https", is: nil),
        .f("for=198.51.100.1, proto=https", is: nil), .f("for=198.51.100.1;for=6.6.6.6", is: nil), .f("for=", is: nil),
        .f("for", is: nil),
        .f("for=198.51.100.1 for=6.6.6.6", is: nil), .f("for = 198.51.100.1", is: nil), .f("for=\"198.51.100.1", is: nil),
        .f("for=\"6.6.6.6, for=198.51.100.1", is: nil), .f("for=6.6.6.6;a=\", for=198.51.100.1", is: nil),
        .f("for=6.6.6.6;a=\", for=\"[2001:db8::1]\"", is: nil), .f("for=198.51.100.1\"", is: nil),
        .f("for=\"198.51.100.1\\", is: nil),
        .f("198.51.100.1", is: nil), .f("=198.51.100.1", is: nil), .f("for=198.51.100.1/24", is: nil), .f("", is: nil),
        .f("for=\"[2001:db8::1%eth0]\"", is: "2001:db8::"), .f("for=\"\"", is: nil), .f("forx=198.51.100.1", is: nil),
        .f("for=\"6.6.6.6", "for=198.51.100.1", is: "198.51.100.1"), .f("for=198.51.100.1", "for=\"", is: nil),
    ]

    /// If the two fields disagree, one of them is forged.
    static let bothFields: [ClientVector] = [
        .both("for=198.51.100.1", "198.51.100.1", is: "198.51.100.1"),
        .both("for=\"[2001:db8::1]\"", "2001:db8::2", is: "2001:db8::"),
        .both("for=198.51.100.1, for=10.0.0.2", "198.51.100.1", is: "198.51.100.1"),
        .both("for=6.6.6.6", "198.51.100.1", is: nil),
        .both("for=198.51.100.1", "6.6.6.6", is: nil), .both("for=unknown", "198.51.100.1", is: nil),
        .both("garbage", "198.51.100.1", is: nil),
        .both("for=198.51.100.1", "garbage", is: nil), .both("", "198.51.100.1", is: "198.51.100.1"),
        .both("for=198.51.100.1", "", is: "198.51.100.1"), .both("for=198.51.100.1", "6.6.6.6, 198.51.100.1", is: "198.51.100.1"),
    ]
}
