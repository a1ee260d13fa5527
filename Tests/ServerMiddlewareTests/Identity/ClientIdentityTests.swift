import ErrorContract
import HTTPTypes
import HoldfastTesting
import ServerMiddleware
import Testing

@Suite struct ClientIdentityTests {
    @Test("Finds the client of a request by its connection and the proxies' fields", arguments: ClientVector.all)
    func vectors(vector: ClientVector) throws {
        let expected = try #require(vector.expected.map { IPAddress($0) } ?? IPAddress(vector.peer), "\(vector)")
        #expect(try vector.client == ClientAddress(expected), "\(vector)")
    }

    @Test("There are at least 100 distinct vectors")
    func count() {
        #expect(ClientVector.all.count >= 100)
        #expect(Set(ClientVector.all.map(\.testDescription)).count == ClientVector.all.count)
    }

    @Test("Header fields of an untrusted peer change nothing", arguments: ClientVector.all)
    func untrusted(vector: ClientVector) throws {
        let stranger = try #require(IPAddress("203.0.113.99"))
        let client = try vector.identity.client(peer: stranger, headers: vector.headers)
        #expect(client == ClientAddress(stranger))
    }

    @Test("Forged entries before those of the trusted proxy do not change the client", arguments: ClientVector.all)
    func prefixed(vector: ClientVector) throws {
        let proxy = try #require(IPAddress("10.0.0.1"))
        var headers = vector.headers
        headers[values: .xForwardedFor].append("203.0.113.7")
        if !headers[values: .forwarded].isEmpty { headers[values: .forwarded].append("for=203.0.113.7") }
        let client = try vector.identity.client(peer: proxy, headers: headers)
        #expect(client == ClientAddress(try #require(IPAddress("203.0.113.7"))))
        // Also joined to one line, where an unclosed quote may hide the end. In that case only the proxy itself counts as the
        // client.
        var joined = vector.headers
        joined[.xForwardedFor] = (vector.headers[values: .xForwardedFor] + ["203.0.113.7"]).joined(separator: ", ")
        if !vector.headers[values: .forwarded].isEmpty {
            joined[.forwarded] = (vector.headers[values: .forwarded] + ["for=203.0.113.7"]).joined(separator: ", ")
        }
        let joinedClient = try vector.identity.client(peer: proxy, headers: joined)
        #expect([client, ClientAddress(proxy)].contains(joinedClient))
    }

    @Test("Random bytes before the proxy's own hop never change the client, 20,000 rounds")
    func fuzz() throws {
        var random = SplitMix64(seed: 7)
        let alphabet = Array("for=;,\"\\[]:._%0123456789abcdefF \tunknown".utf8)
        let identity = ClientIdentity(trustedProxies: [try IPRange("10.0.0.0/8")])
        let proxy = try #require(IPAddress("10.0.0.1"))
        let honest = ClientAddress(try #require(IPAddress("203.0.113.7")))
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...40, using: &random)).compactMap { _ in alphabet.randomElement(using: &random) }
            let junk = String(decoding: bytes, as: UTF8.self)
            var headers: HTTPFields = [:]
            headers[.forwarded] = junk + ", for=203.0.113.7;proto=https"
            #expect([honest, ClientAddress(proxy)].contains(identity.client(peer: proxy, headers: headers)), "\(junk)")
            headers = [:]
            headers[.xForwardedFor] = junk + ", 203.0.113.7"
            #expect(identity.client(peer: proxy, headers: headers) == honest, "\(junk)")
            headers = [:]
            headers[.forwarded] = junk
            headers[.xForwardedFor] = "203.0.113.7"
            #expect([honest, ClientAddress(proxy)].contains(identity.client(peer: proxy, headers: headers)), "\(junk)")
        }
    }

    @Test("Reads a chain of 50,000 hops from its end, at most 32 of them")
    func longChain() throws {
        let identity = ClientIdentity(trustedProxies: [try IPRange("10.0.0.0/8")])
        let proxy = try #require(IPAddress("10.0.0.1"))
        for name in [HTTPField.Name.forwarded, .xForwardedFor] {
            let hop = { (address: String) in name == .forwarded ? "for=\(address)" : address }
            var headers: HTTPFields = [:]
            headers[name] = Array(repeating: hop("198.51.100.1"), count: 50_000).joined(separator: ",") + "," + hop("203.0.113.7")
            #expect(identity.client(peer: proxy, headers: headers) == ClientAddress(try #require(IPAddress("203.0.113.7"))))
            let proxies = Array(repeating: hop("10.0.0.3"), count: 31).joined(separator: ",")
            headers[name] = [hop("198.51.100.1"), hop("10.0.0.2"), proxies].joined(separator: ",")
            #expect(identity.client(peer: proxy, headers: headers) == ClientAddress(try #require(IPAddress("10.0.0.2"))))
        }
    }

    @Test("Connections without an address are one client, and their fields are ignored")
    func noPeer() throws {
        var headers: HTTPFields = [:]
        headers[.xForwardedFor] = "198.51.100.1"
        let identity = ClientIdentity(trustedProxies: [try IPRange("10.0.0.0/8")])
        #expect(identity.client(peer: nil, headers: headers) == .unknown)
    }

    @Test("The prefix that distinguishes IPv6 clients can be shorter", arguments: [(64, false), (56, true), (48, true)])
    func prefix(length: Int, isOne: Bool) throws {
        let identity = ClientIdentity(ipv6Prefix: length)
        let one = try #require(IPAddress("2001:db8:1:ff::1"))
        let other = try #require(IPAddress("2001:db8:1:1::1"))
        #expect((identity.client(peer: one, headers: [:]) == identity.client(peer: other, headers: [:])) == isOne)
    }

    @Test("No description of a client shows the address")
    func hidden() throws {
        let client = ClientAddress(try #require(IPAddress("192.0.2.1")))
        var text = "\(client) \(String(reflecting: client))"
        dump(client, to: &text)
        #expect(!text.contains("192") && !text.contains("3221225985"))
    }
}
