import NIOCore
import ServerMiddleware
import Testing

@Suite struct IPAddressTests {
    @Test(
        "Reads every notation of an address as the same address",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
            ("2001:db8::1", "2001:db8::1"), ("2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"),
            ("2001:DB8::1", "2001:db8::1"), ("2001:db8:0:0:0:0:0:1", "2001:db8::1"), ("2001:db8::0:1", "2001:db8::1"),
            ("2001:db8:0:0::1", "2001:db8::1"), ("::", "::"), ("0:0:0:0:0:0:0:0", "::"), ("::1", "::1"), ("1::", "1::"),
            ("0::1", "::1"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
            ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("1:0:0:2:0:0:0:3", "1:0:0:2::3"), ("1:0:0:2:3:0:0:4", "1::2:3:0:0:4"),
            ("2001:db8::192.0.2.33", "2001:db8::c000:221"), ("1:2:3:4:5:6:192.0.2.33", "1:2:3:4:5:6:c000:221"),
            ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("fe80::1", "fe80::1"),
            ("::ffff:192.0.2.1", "192.0.2.1"), ("::FFFF:192.0.2.1", "192.0.2.1"), ("::ffff:c000:201", "192.0.2.1"),
            ("0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"), ("0000:0000:0000:0000:0000:ffff:c000:0201", "192.0.2.1"),
            ("::ffff:0:0", "0.0.0.0"), ("::ffff:0:192.0.2.1", "::ffff:0:c000:201"), ("::192.0.2.1", "::c000:201"),
        ]
    )
    func spellings(text: String, canonical: String) throws {
        let address = try #require(IPAddress(text))
        #expect(address.description == canonical)
        #expect(IPAddress(canonical) == address)
    }

    @Test(
        "Refuses a text that is not an address",
        arguments: [
            "", " ", ".", ":", "1", "1.2", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1..2.3", "256.0.0.1", "1.2.3.999",
            "1.2.3.1000", "01.2.3.4", "010.0.0.1", "1.2.3.00", "0x7f.0.0.1", "0x7f000001", "2130706433", "1.2.3.4 ", " 1.2.3.4",
            "1.2.3.-4", "+1.2.3.4", "1.2.3.4:80", "[::1]", "::1%eth0", "::1/64", "1.2.3.4/8", ":::", "::1::", "1::2::3", ":1",
            "1:",
            "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "12345::", "g::", "::1.2.3",
            "::1.2.3.4.5",
            "1.2.3.4::", "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4", "::01.2.3.4", "localhost", "example.com", "unknown", "_hidden",
            "１.2.3.4", "1.2.3.4\u{0}", "::1\u{0}", "1.2.3.4\r\n", "\u{200B}1.2.3.4", "::ｆ",
            String(repeating: "1", count: 100_000),
            String(repeating: ":", count: 100_000), "0000:0000:0000:0000:0000:0000:192.168.100.200:",
        ]
    )
    func garbage(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test("100,000 random addresses survive a round trip through their text")
    func roundTrip() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<100_000 {
            // Includes groups of zeros, so that the gap occurs at every position.
            let bits = (0..<8).reduce(UInt128(0)) { bits, _ in
                bits << 16 | UInt128(random.next() % 3 == 0 ? 0 : UInt16.random(in: .min ... .max, using: &random))
            }
            let address = IPAddress(v6: bits)
            #expect(IPAddress(address.description) == address)
        }
    }

    @Test("Reads a socket's address from the bytes of the C structure")
    func sockets() throws {
        for text in ["192.0.2.1", "2001:db8:1:2:3:4:5:6", "::1"] {
            #expect(IPAddress(try SocketAddress(ipAddress: text, port: 4711)) == IPAddress(text))
        }
        #expect(IPAddress(try SocketAddress(ipAddress: "::ffff:192.0.2.1", port: 1)) == IPAddress("192.0.2.1"))
        #expect(IPAddress(try SocketAddress(unixDomainSocketPath: "/run/socket")) == nil)
    }

    @Test(
        "A range contains the addresses that share its prefix",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.0.0.1", "10.0.0.1", true),
            ("10.0.0.1", "10.0.0.2", false), ("10.0.0.1/32", "10.0.0.1", true), ("128.0.0.0/1", "200.0.0.1", true),
            ("10.0.0.0/8", "::ffff:10.1.1.1", true), ("::ffff:10.0.0.0/104", "10.1.1.1", true),
            ("::ffff:10.0.0.1", "10.0.0.1", true),
            ("fd00::/8", "fd12::1", true), ("fd00::/8", "fe00::1", false), ("2001:db8::/33", "2001:db8:8000::", false),
            ("2001:db8::1/128", "2001:db8::1", true), ("2001:db8::1", "2001:db8::2", false), ("::/1", "10.0.0.1", false),
            ("10.0.0.0/8", "64:ff9b::10.0.0.1", false), ("10.0.0.0/8", "2002:a00:1::", false),
            ("10.0.0.0/8", "::10.0.0.1", false),
        ]
    )
    func ranges(range: String, address: String, isInside: Bool) throws {
        let address = try #require(IPAddress(address))
        #expect(try IPRange(range).contains(address) == isInside)
    }

    @Test(
        "Refuses an invalid range with a sentence that quotes it",
        arguments: [
            "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.0/ 8",
            "10.0.0.0/0008",
            "10.0.0.1/8", "0.0.0.0/0", "::/0", "::ffff:0:0/96", "::ffff:10.0.0.0/8", "2001:db8::/129", "2001:db8::1/64",
            "fd00::%1/8",
            "proxy.example.com", "10.0.0.0-10.0.0.9", "*", "loopback",
        ]
    )
    func badRange(text: String) {
        #expect {
            try IPRange(text)
        } throws: { error in
            (error as? IPRange.Refusal)?.description.contains("“\(text)”") == true
        }
    }

    @Test(
        "The refusal of a range explains how to correct it",
        arguments: [
            ("10.0.0.256/8", "is neither an address such as 10.0.0.1 nor a range such as 10.0.0.0/8"),
            ("10.0.0.0/33", "must have a whole number from 1 to 32 after the slash"),
            ("10.0.0.0/255.0.0.0", "must have a whole number from 1 to 32 after the slash"),
            ("2001:db8::/129", "must have a whole number from 1 to 128 after the slash"),
            ("::ffff:10.0.0.0/8", "must have a whole number from 97 to 128 after the slash"),
            ("0.0.0.0/0", "contains all IPv4 addresses; use a smaller range, or single addresses"),
            ("::ffff:0:0/96", "contains all IPv4 addresses; use a smaller range, or single addresses"),
            ("::/0", "contains all IPv6 addresses; use a smaller range, or single addresses"),
            ("10.0.0.1/8", "has bits set after its prefix; use the range 10.0.0.0/8, or the single address 10.0.0.1"),
            (
                "::ffff:10.0.0.1/104",
                "has bits set after its prefix; use the range 10.0.0.0/8, or the single address 10.0.0.1"
            ),
            (
                "2001:db8::1/64",
                "has bits set after its prefix; use the range 2001:db8::/64, or the single address 2001:db8::1"
            ),
        ]
    )
    func refusals(text: String, explanation: String) throws {
        let refusal = try #require(throws: IPRange.Refusal.self) { try IPRange(text) }
        #expect(refusal.description == "“\(text)” \(explanation)")
    }

    @Test("A client's address fits into the inline buffer of an existential")
    func size() {
        #expect(MemoryLayout<ClientAddress>.size <= 3 * MemoryLayout<Int>.size)
        #expect(MemoryLayout<ClientAddress>.alignment <= MemoryLayout<Int>.alignment)
    }
}
