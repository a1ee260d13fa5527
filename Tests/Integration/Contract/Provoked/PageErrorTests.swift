import ErrorContract
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct PageErrorTests {
    @Test("A form from another site gets an error page with the code in a header")
    func foreignForm() async throws {
        try await withServer { server in
            let response = try await RawHTTP.send(
                "POST",
                "/reset-password/request",
                to: server.url,
                headers: ["Content-Type: application/x-www-form-urlencoded", "Origin: https://evil.example"],
                body: Array("email=a%40example.com".utf8)
            )
            #expect(response.status == 403)
            #expect(response["Content-Type"] == "text/html; charset=utf-8")
            #expect(response["X-Error-Code"] == "RESOURCE_FORBIDDEN")
            #expect(response.decoded.code == .resourceForbidden)
            #expect(response.decoded.message == nil)
            #expect(EmittedCodesTests.onPages == [.resourceForbidden])
        }
    }
}
