import ErrorContract
import Foundation
import StrictJSON
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// The responses under `/reset_password/` for released apps.
@Suite struct LegacyFormTests {
    @Test("Every error under /reset_password/ has the success form, whatever is configured")
    func everyError() async throws {
        for form in ErrorForm.allCases {
            try await withServer {
                $0.errorForm = form
            } _: { server in
                for (method, path, body, status, field) in [
                    ("GET", "/reset_password/", "", 405, ""), ("DELETE", "/reset_password", "{}", 405, ""),
                    ("POST", "/reset_password/nothing", "{}", 404, ""), ("GET", "/reset_password/nothing/else", "", 404, ""),
                    ("POST", "/reset_password/", "{", 400, ""), ("POST", "/reset_password/", #"{"email":"nope"}"#, 400, "email"),
                    ("POST", "/reset_password", String(repeating: " ", count: 70_000), 413, ""),
                    ("POST", "/reset_password/", #"{"email":"a@example.com"}"#, 200, ""),
                    ("POST", "/reset_password/", #"{"email":"a@example.com"}"#, 200, ""),
                    ("POST", "/reset_password/", #"{"email":"a@example.com"}"#, 200, ""),
                    ("POST", "/reset_password/", #"{"email":"a@example.com"}"#, 429, "rate_limit"),
                ] {
                    let response = try await RawHTTP.send(
                        method,
                        path,
                        to: server.url,
                        headers: ["Content-Type: application/json"],
                        body: Array(body.utf8)
                    )
                    let place: Comment = "\(method) \(path): \(response.text)"
                    #expect(response.status == status, place)
                    guard status != 200 else { continue }
                    let json = try response.json()
                    #expect(json["success"] == false, place)
                    #expect(json["error_code"] == .integer(Int64(status)), place)
                    #expect(json["errors.0.field"]?.stringValue == field, place)
                    #expect(json["errors.0.message"]?.stringValue?.isEmpty == false, place)
                    #expect(response["X-Error-Code"] == response.decoded.code?.rawValue, place)
                    if status == 405 { #expect(response["Allow"] == "POST", place) }
                    if status == 429 { #expect(response["Retry-After"] != nil, place) }
                }
                let elsewhere = try await RawHTTP.send("GET", "/reset_passwords", to: server.url)
                #expect(elsewhere.decoded.family.rawValue == (form == .problem ? "contract-problem" : form.rawValue))
            }
        }
    }

    @Test("A client that accepts problem details gets them there, too")
    func problem() async throws {
        try await withServer { server in
            let response = try await RawHTTP.send(
                "GET",
                "/reset_password/",
                to: server.url,
                headers: ["Accept: application/problem+json"]
            )
            #expect(response.status == 405)
            #expect(response["Content-Type"] == "application/problem+json")
        }
    }
}
