import NIOHTTP1
import Testing

@testable import ServerMiddleware

@Suite struct RequestHostTests {
    @Test(
        "Reads a host without its port, in lowercase",
        arguments: [
            ("example.com", "example.com"), ("Example.COM:8080", "example.com"), ("127.0.0.1:1", "127.0.0.1"),
            ("[::1]:8080", "::1"),
            ("[2001:DB8::1]", "2001:db8::1"), ("my_host:", "my_host"), ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ]
    )
    func valid(text: String, name: String) { #expect(RequestHost(text)?.name == name) }

    @Test(
        "Refuses anything else as a host",
        arguments: [
            "", " ", ":80", "a,b", "a, b", "a b", "a@b", "a/b", "a?b", "a#b", "a\\b", "a:b", "a:1:2", "a:123456", "[::1", "::1",
            "[::1]x", "[]",
            "[x]", "bücher.example", "a%41", "a\u{0}", String(repeating: "a", count: 256),
        ]
    )
    func invalid(text: String) { #expect(RequestHost(text) == nil) }

    @Test(
        "Recognizes all names of the machine itself",
        arguments: ["localhost", "LOCALHOST:8080", "127.0.0.1", "127.1.2.3:80", "[::1]", "[::ffff:127.0.0.1]"]
    )
    func loopback(text: String) { #expect(RequestHost(text)?.isLoopback == true) }

    @Test(
        "Recognizes no other name as the machine itself",
        arguments: [
            "example.com", "localhost.example.com", "127.0.0.1.example.com", "128.0.0.1", "0.0.0.0", "[::2]", "127.1",
            "localhost.",
        ]
    )
    func notLoopback(text: String) { #expect(RequestHost(text)?.isLoopback == false) }

    @Test(
        "HTTP/1.1 requires one Host, HTTP/1.0 at most one",
        arguments: [
            (HTTPVersion.http1_1, [String](), false), (.http1_0, [], true), (.http1_1, ["x"], true), (.http1_0, ["x"], true),
            (.http1_1, ["x", "x"], false), (.http1_0, ["x", "y"], false), (.http1_1, ["x, y"], false), (.http1_1, [""], false),
        ]
    )
    func heads(version: HTTPVersion, hosts: [String], isValid: Bool) {
        let head = HTTPRequestHead(version: version, method: .GET, uri: "/", headers: HTTPHeaders(hosts.map { ("Host", $0) }))
        #expect(RequestHost.isValid(in: head) == isValid)
    }
}
