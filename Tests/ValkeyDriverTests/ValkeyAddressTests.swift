import Testing

@testable import ValkeyDriver

@Suite struct ValkeyAddressTests {
    @Test("Reads host, port, database, user and password of a URL")
    func parts() throws {
        let full = try ValkeyAddress(url: "valkey://ana:p%40ss@db.example:7000/3")
        #expect((full.host, full.port, full.database) == ("db.example", 7000, 3))
        #expect((full.user, full.password) == ("ana", "p@ss"))
        let short = try ValkeyAddress(url: "redis://:secret@[::1]")
        #expect((short.host, short.port, short.database) == ("::1", 6379, 0))
        #expect((short.user, short.password) == (nil, "secret"))
    }

    @Test(
        "Refuses TLS with a hint, and every unknown part",
        arguments: [
            ("rediss://:secret@host", "TLS proxy"), ("valkeys://:secret@host", "TLS proxy"), ("http://secret@host", "valkey://"),
            ("valkey://", "host"), ("secret", "URL"), ("valkey://:secret@host/zero", "database"),
            ("valkey://secret@host", "password"),
            ("valkey://:secret@host?tls=1", "parameters"), ("valkey://:secret@host:99999", "port"),
            ("valkey://:sec ret@[host", "URL"),
        ]
    )
    func refusals(url: String, hint: String) {
        let failure = #expect(throws: ValkeyAddress.Failure.self) { try ValkeyAddress(url: url) }
        #expect(failure?.description.contains(hint) == true)
        #expect(failure?.description.contains("secret") == false)
    }

    @Test("Descriptions show nothing of the address")
    func secrecy() throws {
        let address = try ValkeyAddress(url: "valkey://ana:secret@db.example")
        #expect("\(address)" == "ValkeyAddress")
        #expect(String(reflecting: address) == "ValkeyAddress")
        var dumped = ""
        dump(address, to: &dumped)
        #expect(!dumped.contains("secret") && !dumped.contains("example"))
    }
}
