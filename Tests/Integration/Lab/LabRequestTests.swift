import ErrorContract
import ErrorLab
import ErrorLabContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct LabRequestTests {
    @Test("Reports every problem with the parameters at once, with valid values")
    func problems() async throws {
        try await LabServer.run { server in
            let response = try await server.get("/answer?deley_ms=5&status=99&code=oops&then=ok")
            #expect(response.status == 400)
            #expect(response["X-Error-Code"] == "VALIDATION_INVALID_INPUT")
            let json = try response.json()
            let fields = json["error.details.validation_errors"]?.arrayValue?.map { $0.objectValue?["field"]?.stringValue }
            #expect(fields == ["code", "status", "deley_ms"])
            #expect(json["error.details.allowed.status"] == "a whole number from 200 to 599")
            #expect(json["error.details.allowed.deley_ms"]?.stringValue?.contains("delay_ms") == true)
        }
    }

    private static let refusals: [(method: String, path: String, status: Int, code: String)] = [
        ("GET", "/answer?code=ok&code=ok", 400, "REQUEST_MALFORMED"), ("GET", "/answer?code=%zz", 400, "REQUEST_MALFORMED"),
        ("GET", "/answer?%00=1", 400, "VALIDATION_INVALID_INPUT"),
        ("GET", "/answer?then=NO_SUCH_CODE&times=0&status=403", 400, "VALIDATION_INVALID_INPUT"),
        ("GET", "/limited?quota=0", 400, "VALIDATION_INVALID_FORMAT"),
        ("GET", "/limited?quota=1001", 400, "VALIDATION_INVALID_FORMAT"),
        ("GET", "/limited?window=3601&quota=x", 400, "VALIDATION_INVALID_FORMAT"),
        ("GET", "/limited?session=a%20b", 400, "VALIDATION_INVALID_FORMAT"),
        ("GET", "/limited?unknown=1", 400, "VALIDATION_INVALID_INPUT"),
        ("GET", "/protected?form=xml", 400, "VALIDATION_INVALID_FORMAT"),
        ("POST", "/token?lifetime_ms=3600001", 400, "VALIDATION_INVALID_FORMAT"),
        ("POST", "/token?expired=maybe", 400, "VALIDATION_INVALID_FORMAT"),
        ("POST", "/token/refresh", 415, "REQUEST_UNSUPPORTED_MEDIA_TYPE"),
        ("POST", "/read", 415, "REQUEST_UNSUPPORTED_MEDIA_TYPE"),
    ]

    @Test("Refuses unusable input with a contract error")
    func refused() async throws {
        try await LabServer.run { server in
            for (method, path, status, code) in Self.refusals {
                let response = try await RawHTTP.send(method, LabServer.root + path, to: server.url)
                #expect(response.status == status, "\(method) \(path)")
                #expect(response["X-Error-Code"] == code, "\(method) \(path)")
            }
        }
    }

    @Test("Counts requests per session and URL")
    func counting() async throws {
        try await LabServer.run { server in
            let path = "/answer?code=SERVER_TIMEOUT&times=2&session="
            let statuses = try await [
                server.get(path + "a").status, server.get(path + "a").status, server.get(path + "b").status,
                server.get(path + "a").status, server.get(path + "a&seed=1").status,
            ]
            #expect(statuses == [504, 504, 504, 200, 504])
        }
    }

    @Test("Refuses a request for another host name, unless any is allowed", arguments: ["evil.example", ""])
    func rebinding(host: String) async throws {
        try await LabServer.run { server in
            let connection = try RawConnection(
                get: LabServer.root,
                from: server.url,
                host: host,
                headers: ["Connection: close"]
            )
            defer { connection.close() }
            let text = String(decoding: await connection.readToEnd().bytes, as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 404"))
        }
    }

    @Test("A redirect leads to the same response, by path or by the machine's other name")
    func redirects() async throws {
        try await LabServer.run { server in
            let port = try #require(server.url.port)
            let same = try await server.get("/answer?redirect=same&code=RESOURCE_DELETED&status=308&session=a")
            #expect(same.status == 308)
            #expect(same["Location"] == "\(LabServer.root)/answer?code=RESOURCE_DELETED&session=a")
            let cross = try await server.get("/answer?redirect=cross")
            #expect(cross.status == 302)
            #expect(cross["Location"] == "http://localhost:\(port)\(LabServer.root)/answer")
        }
    }

    @Test("A redirect of a lab in a group stays in the group", arguments: ["/app", "//app"])
    func redirectsInGroup(start: String) async throws {
        try await LabServer.run(prefix: "/app") { server in
            let port = try #require(server.url.port)
            let path = start + LabServer.root + "/answer"
            let same = try await RawHTTP.send("GET", path + "?redirect=same&status=404", to: server.url)
            #expect(same.status == 302 && same["Location"] == "/app\(LabServer.root)/answer?status=404")
            let cross = try await RawHTTP.send("GET", path + "?redirect=cross", to: server.url)
            #expect(cross["Location"] == "http://localhost:\(port)/app\(LabServer.root)/answer")
        }
    }

    @Test("Serves the lab in development and on a loopback address only")
    func onlyInDevelopment() async throws {
        try await withServer {
            $0.environment = .production
            $0.resetBaseURL = URL(string: "https://accounts.example.com")
        } _: { server in
            for path in ["/dev/lab", "/dev/lab/answer", "/dev/lab/scenarios"] {
                let response = try await RawHTTP.send("GET", path, to: server.url)
                #expect(response.status == 404)
            }
        }
        try await withServer {
            $0.host = "0.0.0.0"
        } _: { server in
            let response = try await RawHTTP.send("GET", "/dev/lab/answer", to: server.url)
            #expect(response.status == 404)
        }
    }

    @Test("A third-party server lists its own scenarios below its mount path")
    func elsewhere() async throws {
        try await LabServer.run { server in
            let listing = try JSONDecoder().decode(LabListing.self, from: Data(try await server.get("/scenarios").body))
            #expect(listing.scenarios == LabScenario.all(root: LabServer.root))
            let page = try await server.get("")
            #expect(page.text.contains(#"href="/try/errors/answer?code=AUTH_TOKEN_EXPIRED""#))
            #expect(page.text.contains(#"<body data-root="/try/errors">"#))
        }
    }
}
