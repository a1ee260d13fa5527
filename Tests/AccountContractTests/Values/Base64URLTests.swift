import AccountContract
import Foundation
import HoldfastTesting
import Testing

@Suite struct Base64URLTests {
    @Test("Encodes like Foundation with the URL alphabet and no padding, and decodes it", arguments: 0...67)
    func roundTrip(count: Int) throws {
        var random = SplitMix64(seed: UInt64(count))
        for _ in 0..<50 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let text = Base64URL.encoded(bytes)
            let other = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            #expect(text == other.replacing("=", with: ""))
            #expect(Base64URL.decoded(text) == bytes)
        }
    }

    @Test(
        "Refuses padding, the plain base64 alphabet, spare bits and other text",
        arguments: ["QQ==", "QQ=", "QR", "Qf", "QUJ", "+_-A", "A/-A", "A", "AAAAA", "AA A", "AA\n", "ÀAAA", "AAA\0"]
    )
    func notCanonical(_ text: String) {
        #expect(Base64URL.decoded(text) == nil)
    }
}
