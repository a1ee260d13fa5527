import AccountContract
import AccountKit
import Foundation
import Testing

@MainActor
@Suite("Link router")
struct LinkRouterTests {
    private static let couponText = "exampleapp://coupon?distributor=d&title=t&sum=5"
    private static let coupon = ExampleLink.coupon(distributor: "d", title: "t", sum: 5)

    @Test("Follows a link that needs no session at once, signed in or out", arguments: [true, false])
    func followed(isSignedIn: Bool) throws {
        let router = LinkRouter(ExampleLink.reader, isSignedIn: isSignedIn)
        #expect(try router.open(url("exampleapp://gemara")) == .follow(.section(.gemara)))
        #expect(router.signedIn() == nil)
    }

    @Test("A signed-in user follows a link that needs a session at once")
    func signedIn() throws {
        let router = LinkRouter(ExampleLink.reader, isSignedIn: true)
        #expect(try router.open(url(Self.couponText)) == .follow(Self.coupon))
        #expect(router.heldLink == nil)
    }

    @Test("Holds a link that needs a session until sign-in, and returns it once")
    func held() throws {
        let router = LinkRouter(ExampleLink.reader, isSignedIn: false)
        #expect(try router.open(url(Self.couponText)) == .held)
        #expect(router.heldLink == Self.coupon)
        #expect(router.signedIn() == Self.coupon)
        #expect(router.isSignedIn)
        #expect(router.heldLink == nil)
        #expect(router.signedIn() == nil)
    }

    @Test("Returns the latest of several held links")
    func latest() throws {
        let router = LinkRouter(ExampleLink.reader, isSignedIn: false)
        _ = try router.open(url(Self.couponText))
        _ = try router.open(url("exampleapp://account/7"))
        #expect(router.signedIn() == .account(id: "7"))
    }

    @Test("A reset keeps the held link, which follows the sign-in with the new password")
    func resetInBetween() throws {
        let router = LinkRouter(ExampleLink.reader, isSignedIn: false)
        _ = try router.open(url(Self.couponText))
        let reset = ExampleLink.resetPassword(ResetLink(token: try ResetToken("abc"), email: nil))
        #expect(try router.open(url("exampleapp://reset-password?token=abc")) == .follow(reset))
        #expect(router.signedIn() == Self.coupon)
    }

    @Test(
        "A refused or unknown link keeps the held one",
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

    @Test("After a sign-out links are held again, and a dropped link is not returned")
    func signedOut() throws {
        let router = LinkRouter(ExampleLink.reader, isSignedIn: true)
        router.signedOut()
        #expect(try router.open(url(Self.couponText)) == .held)
        router.dropHeldLink()
        #expect(router.signedIn() == nil)
    }
}
