import AccountContract
import AccountKit
import Foundation
import Testing

@MainActor
@Suite("Link router")
struct LinkRouterTests {
    private static let couponText = "exampleapp://coupon?distributor=d&title=t&sum=5"
    private static let coupon = ExampleLink.coupon(distributor: "d", title: "t", sum: 5)

    @Test("A link that needs no session is followed at once, signed in or out", arguments: [true, false])
    func followed(isSignedIn: Bool) throws {
        let router = LinkRouter(ExampleLink.reader, isSignedIn: isSignedIn)
        #expect(try router.open(url("exampleapp://gemara")) == .follow(.section(.gemara)))
        #expect(router.signedIn() == nil)
    }

    @Test("A link that needs a session is followed at once by somebody who is signed in")
    func signedIn() throws {
        let router = LinkRouter(ExampleLink.reader, isSignedIn: true)
        #expect(try router.open(url(Self.couponText)) == .follow(Self.coupon))
        #expect(router.heldLink == nil)
    }

    @Test("A link that needs a session is held until the sign-in, and given out once")
    func held() throws {
        let router = LinkRouter(ExampleLink.reader, isSignedIn: false)
        #expect(try router.open(url(Self.couponText)) == .held)
        #expect(router.heldLink == Self.coupon)
        #expect(router.signedIn() == Self.coupon)
        #expect(router.isSignedIn)
        #expect(router.heldLink == nil)
        #expect(router.signedIn() == nil)
    }

    @Test("Of several held links the latest is given out")
    func latest() throws {
        let router = LinkRouter(ExampleLink.reader, isSignedIn: false)
        _ = try router.open(url(Self.couponText))
        _ = try router.open(url("exampleapp://account/7"))
        #expect(router.signedIn() == .account(id: "7"))
    }

    @Test("A reset in between leaves the held link where it is: it follows the sign-in with the new password")
    func resetInBetween() throws {
        let router = LinkRouter(ExampleLink.reader, isSignedIn: false)
        _ = try router.open(url(Self.couponText))
        let reset = ExampleLink.resetPassword(ResetLink(token: try ResetToken("abc"), email: nil))
        #expect(try router.open(url("exampleapp://reset-password?token=abc")) == .follow(reset))
        #expect(router.signedIn() == Self.coupon)
    }

    @Test(
        "What is refused or unknown leaves the held link where it is",
        arguments: [
            "https://evil.example.org/coupon", "exampleapp://coupon?distributor=d&distributor=e&title=t&sum=5",
            "exampleapp://talmud",
        ]
    )
    func refusedInBetween(text: String) throws {
        let router = LinkRouter(ExampleLink.reader, isSignedIn: false)
        _ = try router.open(url(Self.couponText))
        let address = try url(text)
        #expect((try? router.open(address)) == nil)
        #expect(router.signedIn() == Self.coupon)
    }

    @Test("After the session's end links are held again, and one that was given up is not")
    func signedOut() throws {
        let router = LinkRouter(ExampleLink.reader, isSignedIn: true)
        router.signedOut()
        #expect(try router.open(url(Self.couponText)) == .held)
        router.dropHeldLink()
        #expect(router.signedIn() == nil)
    }
}
