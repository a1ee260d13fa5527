import AccountContract
import Foundation
import Testing

@Suite struct ResetLinkRefusalTests {
    private func refusal(_ text: String, scheme: String? = "holdfast") throws -> ResetLink.Refusal? {
        let url = try #require(URL(string: text))
        do throws(ResetLink.Refusal) {
            _ = try ResetLink(url, hosts: ["app.example.org", "localhost"], scheme: scheme)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Refuses a link of another host or scheme",
        arguments: [
            "https://evil.example/reset-password?token=T", "https://app.example.org.evil.example/reset-password?token=T",
            "https://evil-app.example.org/reset-password?token=T", "https://www.app.example.org/reset-password?token=T",
            "https://app.example.org./reset-password?token=T", "https://app.example.org@evil.example/reset-password?token=T",
            "https://user@app.example.org/reset-password?token=T", "https://user:pw@app.example.org/reset-password?token=T",
            "https://:pw@app.example.org/reset-password?token=T", "http://app.example.org/reset-password?token=T",
            "http://127.0.0.1/reset-password?token=T", "ftp://app.example.org/reset-password?token=T",
            "other://reset-password?token=T",
            "reset-password?token=T", "/reset-password?token=T", "https:///reset-password?token=T", "javascript:alert(1)",
            "holdfast://user@reset-password?token=T", "https://evil.example/https://app.example.org/reset-password?token=T",
        ]
    )
    func foreign(text: String) throws {
        #expect(try refusal(text) == .foreign)
    }

    @Test("Without a custom scheme, an app accepts only web links")
    func noScheme() throws {
        #expect(try refusal("holdfast://reset-password?token=T", scheme: nil) == .foreign)
        #expect(try refusal("https://app.example.org/reset-password?token=T", scheme: nil) == nil)
    }

    @Test(
        "Refuses a link to another page",
        arguments: [
            "https://app.example.org/?token=T", "https://app.example.org?token=T", "https://app.example.org/login?token=T",
            "https://app.example.org/reset-password/more?token=T", "https://app.example.org/xreset-password?token=T",
            "https://app.example.org/reset-passwordx?token=T", "https://app.example.org/Reset-Password?token=T",
            "https://app.example.org/a/reset-password/b?token=T", "holdfast://login?token=T",
            "holdfast://reset-password/more?token=T", "holdfast://x/reset-password?token=T",
        ]
    )
    func otherPage(text: String) throws {
        #expect(try refusal(text) == .otherPage)
    }

    @Test(
        "Refuses a link without a token",
        arguments: [
            "", "?", "#", "?token", "?token=", "?token=&email=a@b.co", "?email=a@b.co", "?Token=T", "?tokens=T", "?token[]=T",
            "?=T", "?x=token=T",
        ]
    )
    func missingToken(parameters: String) throws {
        #expect(try refusal("https://app.example.org/reset-password" + parameters) == .missingToken)
        #expect(try refusal("holdfast://reset-password" + parameters) == .missingToken)
    }

    @Test(
        "Refuses a duplicate parameter, whatever its values and positions",
        arguments: [
            "?token=T&token=T", "?token=T&token=U", "?token=T&email=a@b.co&email=c@d.co", "?token=T#token=T",
            "?token=T&email=a@b.co#email=a@b.co",
            "#token=T&token=U", "?token=T&t%6Fken=U", "?token=&token=T", "?token=T&token", "?token&token=T",
        ]
    )
    func doubled(parameters: String) throws {
        #expect(try refusal("https://app.example.org/reset-password" + parameters) == .doubledParameter)
        #expect(try refusal("holdfast://reset-password" + parameters) == .doubledParameter)
    }

    @Test(
        "Refuses a malformed token, address or percent-encoding",
        arguments: [
            "?token=%FF", "?token=T&email=%C3%28@b.co", "?%FF=1&token=T", "?token=%zz", "?token=a%2", "?token=a%", "#token=%E9",
            "?token=a%20b", "?token=a%0D%0Ab", "?token=a%00", "?token=%C3%B1", "?token=T&email=", "?token=T&email",
            "?token=T&email=nobody",
            "?token=T&email=a@b", "?token=T&email=a%20b@c.co", "?token=T&email=a@b.co%0D%0ABcc:x", "?token=T&email=a@b.co,c@d.co",
        ]
    )
    func malformed(parameters: String) throws {
        #expect(try refusal("https://app.example.org/reset-password" + parameters) == .malformed)
    }

    @Test("Refuses a token of more than 512 bytes")
    func longToken() throws {
        let page = "https://app.example.org/reset-password?token="
        #expect(try refusal(page + String(repeating: "t", count: 512)) == nil)
        #expect(try refusal(page + String(repeating: "t", count: 513)) == .malformed)
    }
}
