import AccountContract
import AccountKit
import AccountRoutes
import Email
import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// Released apps that use only the old endpoint: the bytes of their requests, and the members of responses that they read.
@Suite struct OldAppTests {
    /// The type that an old app decodes, as strictly as its generated code: a missing or other member fails.
    private struct Wrapped: Decodable {
        struct Payload: Decodable {
            let userExistStatus: Bool
            let message: String
        }
        let success: Bool
        let data: Payload
    }
    private struct Flat: Decodable {
        let userExistStatus: Bool
        let message: String
    }
    private struct Failure: Decodable {
        struct Problem: Decodable {
            let field: String
            let message: String
        }
        let success: Bool
        let errorCode: Int
        let errors: [Problem]
    }

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    private static let alamofire = [
        "Accept-Encoding: br;q=1.0, gzip;q=0.9, deflate;q=0.8", "Accept-Language: es-AR;q=1.0, he-AR;q=0.9",
        "User-Agent: Crowns/2.3.1 (com.example.crowns; build:231; iOS 14.8.1) Alamofire/5.4.4",
    ]
    /// Requests of old apps: JSON with and without spaces, with and without the slash, forms, unknown members.
    private static let requests: [(target: String, headers: [String], body: String)] = [
        ("/reset_password/", alamofire + ["Content-Type: application/json"], #"{"email":"ana@example.com"}"#),
        (
            "/reset_password/", ["Accept: */*", "Content-Type: application/json; charset=utf-8"],
            "{\n  \"email\" : \"ana@example.com\"\n}"
        ),
        (
            "/reset_password", ["Content-Type: application/json", "User-Agent: okhttp/3.12.1"],
            #"{"email":"ANA@example.com ","lang":"es"}"#
        ),
        (
            "/reset_password/", alamofire + ["Content-Type: application/x-www-form-urlencoded; charset=utf-8"],
            "email=ana%40example.com"
        ),
        ("/reset_password/", ["Content-Type: application/x-www-form-urlencoded"], "email=ana%40example.com&submit=Send"),
    ]

    @Test("The old endpoint responds wrapped and flat and emails a link, not a password")
    func request() async throws {
        try await withServer {
            $0.resetEmailLimit = nil
        } _: { server in
            try await server.register("ana@example.com")
            for (number, request) in Self.requests.enumerated() {
                let host = "127.0.0.1:\(server.url.port ?? 0)"
                let head = ["POST \(request.target) HTTP/1.1", "Host: \(host)", "Connection: close"]
                let lines = head + request.headers + ["Content-Length: \(request.body.utf8.count)", "", ""]
                let bytes = Array((lines.joined(separator: "\r\n") + request.body).utf8)
                let response = try await RawHTTP.exchange(bytes, with: server.url)
                #expect(response.status == 200, "\(request): \(response.text)")
                #expect(response["Content-Type"]?.hasPrefix("application/json") == true)
                let wrapped = try Self.decoder.decode(Wrapped.self, from: Data(response.body))
                let flat = try Self.decoder.decode(Flat.self, from: Data(response.body))
                #expect(wrapped.success && wrapped.data.userExistStatus && flat.userExistStatus)
                #expect(wrapped.data.message == flat.message && !flat.message.isEmpty)
                let mails = try await server.mails(atLeast: number + 1)
                let mail = try #require(mails.first)
                #expect(mail.link?.absoluteString.contains("/reset-password?token=") == true)
                #expect(!mail.text.contains("correct horse") && !mail.html.contains("correct horse"))
            }
            // The request alone has not changed the password, as it did before.
            #expect(try await server.login("ana@example.com", "correct horse battery").status == 200)
        }
    }

    @Test("An unknown address gets the same response bytes and no email")
    func unknown() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            let known = try await server.post("/reset_password/", #"{"email":"ana@example.com"}"#)
            let unknown = try await server.post("/reset_password/", #"{"email":"nobody@example.com"}"#)
            #expect(known.body == unknown.body && known.status == unknown.status)
        }
    }

    @Test("The page's form sets the password after the email's link opens in a browser")
    func browser() async throws {
        try await withServer { server in
            try await server.register("ana@example.com")
            _ = try await server.post("/reset_password/", #"{"email":"ana@example.com"}"#)
            let link = try #require(try await server.mails(atLeast: 1).first?.link)
            let query = try #require(link.query())
            let page = try await RawHTTP.send("GET", "\(link.path)?\(query)", to: server.url, headers: ["Accept: text/html"])
            #expect(page.status == 200 && page.text.contains("<form"))
            let secret = "a+password+of+my+own"
            let response = try await RawHTTP.send(
                "POST",
                "/reset-password",
                to: server.url,
                headers: ["Content-Type: application/x-www-form-urlencoded", "Origin: http://127.0.0.1:\(server.url.port ?? 0)"],
                body: Array("\(query)&new_password=\(secret)&confirm_password=\(secret)".utf8)
            )
            #expect(response.status == 200, "\(response.text)")
            #expect(try await server.login("ana@example.com", "a password of my own").status == 200)
            #expect(try await server.login("ana@example.com", "correct horse battery").status == 401)
        }
    }

    @Test("Refusals have the form of old apps: a field or limit, and a text")
    func refusals() async throws {
        try await withServer {
            $0.resetEmailLimit = AccountLimit.resetEmail.policy(1, perSeconds: 3_600)
        } _: { server in
            for (body, status, field) in [
                (#"{"email":"nope"}"#, 400, "email"), (#"{"mail":"ana@example.com"}"#, 400, "email"), ("{", 400, ""),
                (#"{"email":"ana@example.com"}"#, 200, ""), (#"{"email":"ana@example.com"}"#, 429, "rate_limit"),
            ] {
                let response = try await server.post("/reset_password/", body, headers: Self.alamofire)
                #expect(response.status == status, "\(body): \(response.text)")
                guard status != 200 else { continue }
                let failure = try Self.decoder.decode(Failure.self, from: Data(response.body))
                #expect(!failure.success && failure.errorCode == status)
                #expect(failure.errors.first?.field == field)
                #expect(failure.errors.first?.message.isEmpty == false)
                guard status == 429 else { continue }
                let wait = try #require(response.retryPhrase(in: .spanish))
                #expect(failure.errors.first?.message.contains(wait) == true, "\(failure)")
            }
        }
    }

    @Test("With ERROR_FORMAT=success all errors have the form and texts of old apps")
    func wholeServer() async throws {
        try await withServer {
            $0.errorForm = .success
        } _: { server in
            let me = try await RawHTTP.send("GET", "/api/auth/me", to: server.url, headers: ["Authorization: Bearer nonsense"])
            let failure = try Self.decoder.decode(Failure.self, from: Data(me.body))
            #expect(me.status == 401 && failure.errorCode == 401)
            #expect(failure.errors.first?.message == "Invalid token.")
            for email in ["ana@example.com", "nobody@example.com"] {
                let response = try await server.post("/api/request-password-reset/", #"{"email":"\#(email)"}"#)
                let body = try response.json()
                #expect(response.status == 200 && body["success"] == true && body["data.reset_link_sent"] == true)
                #expect(body["data.reset_method"] == "email_link" && body["data.link_expires_in"] == 3_600)
            }
            _ = try await server.client().requestPasswordReset(email: try EmailAddress("ana@example.com"))
            let problem = try await RawHTTP.send(
                "POST",
                "/api/request-password-reset/",
                to: server.url,
                headers: ["Content-Type: application/json", "Accept: application/problem+json, application/json"],
                body: Array(#"{"email":"ben@example.com"}"#.utf8)
            )
            #expect(try problem.json()["message"]?.stringValue?.isEmpty == false, "who asks for other forms gets them")
        }
    }
}
