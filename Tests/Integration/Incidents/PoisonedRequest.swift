/// A request for a reset link that tries to change the link's target.
struct PoisonedRequest: CustomStringConvertible {
    var target = "/api/request-password-reset/"
    var host = "accounts.example.com"
    var lines: [String] = []
    var members = ""

    var description: String { "\(target) \(host) \(lines) \(members)" }

    /// Returns the bytes of the request.
    func bytes(email: String) -> [UInt8] {
        let body = #"{"email":"\#(email)"\#(members)}"#
        let head =
            ["POST \(target) HTTP/1.1", "Host: \(host)", "Connection: close", "Content-Type: application/json"] + lines
            + ["Content-Length: \(body.utf8.count)", "", body]
        return Array(head.joined(separator: "\r\n").utf8)
    }

    /// Hosts, fields, targets and members, one at a time.
    static let all: [PoisonedRequest] = hosts + fields + targets + redirects

    private static let hosts = [
        "evil.example", "evil.example:443", "accounts.example.com.evil.example", "accounts.example.com@evil.example",
        "accounts.example.com:80@evil.example", "evil.example#accounts.example.com", "evil.example?accounts.example.com",
        "evil.example/accounts.example.com", "[::1]", "evil.example\\accounts.example.com", "EVIL.example", "xn--evil-x.example",
    ].map { PoisonedRequest(host: $0) }

    private static let fields = [
        "X-Forwarded-Host: evil.example", "X-Forwarded-Host: accounts.example.com, evil.example", "Forwarded: host=evil.example",
        "Forwarded: for=127.0.0.1;host=evil.example;proto=http", "X-Original-Host: evil.example", "X-Host: evil.example",
        "X-HTTP-Host-Override: evil.example", "X-Forwarded-Server: evil.example", "X-Forwarded-Proto: evil",
        "X-Forwarded-Prefix: //evil.example", "X-Forwarded-Port: 666@evil.example", "X-Original-URL: //evil.example/",
        "X-Rewrite-URL: https://evil.example/", "Origin: https://evil.example", "Referer: https://evil.example/reset-password",
        "X-Forwarded-Scheme: evil", "X-Forwarded-Path: /evil", "X-Proxy-Host: evil.example", "Via: 1.1 evil.example",
        "Base-Url: https://evil.example", "X-Backend-Host: evil.example", "Host: evil.example", "X-Forwarded-For: evil.example",
    ].map { PoisonedRequest(lines: [$0]) }

    private static let targets = [
        "http://evil.example/api/request-password-reset/", "https://evil.example/api/request-password-reset/",
        "//evil.example/api/request-password-reset/", "/api/request-password-reset/?next=https://evil.example",
        "/api/request-password-reset/?redirect_to=//evil.example", "/api/request-password-reset/?base_url=https://evil.example",
    ].map { PoisonedRequest(target: $0) }

    private static let redirects = ["redirect_to", "redirectTo", "next", "callback_url", "base_url", "domain", "reset_url"].map {
        PoisonedRequest(members: #","\#($0)":"https://evil.example/""#)
    }
}
