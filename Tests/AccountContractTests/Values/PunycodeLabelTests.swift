import AccountContract
import HoldfastTesting
import Testing

@Suite struct PunycodeLabelTests {
    @Test(
        "Refuses a label that has the punycode prefix but is not punycode",
        arguments: [
            "xn--bc4", "xn--a", "xn--abc-", "xn--99999999", "xn--a-ecp!", "xn--zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", "xn---",
            "xn----",
            "xn--0", "xn--bcher-kva-",
        ]
    )
    func fake(label: String) {
        #expect(throws: EmailRefusal.domain) { try EmailAddress("ana@\(label).example") }
    }

    @Test(
        "Refuses punycode that hides a refused or differently spelled label",
        arguments: [
            // Only ASCII, a capital, a decomposed accent, a zero-width space, a right-to-left override, an emoji, a wide letter.
            "xn--abc-", "xn--bcher-2pa", "xn--bucher-xyd", "xn--ana-7m0a", "xn--ana-7q0a", "xn--ls8h", "xn--cher-zra77610b",
        ]
    )
    func smuggled(label: String) {
        #expect(throws: EmailRefusal.domain) { try EmailAddress("ana@\(label).example") }
    }

    @Test("Decoding the encoded form of any address returns the same address")
    func roundTrip() throws {
        var random = SplitMix64(seed: 7)
        let blocks: [ClosedRange<UInt32>] = [
            0x61...0x7A, 0xC0...0x24F, 0x370...0x3FF, 0x400...0x4FF, 0x5D0...0x5EA, 0x1E00...0x1FFF, 0x2100...0x214F,
            0x3040...0x30FF,
            0x4E00...0x4FFF, 0xAC00...0xAFFF, 0xFF21...0xFF5A, 0x1D400...0x1D7FF,
        ]
        var accepted = 0
        for _ in 0..<5_000 {
            let scalars = (0..<Int.random(in: 1...6, using: &random)).compactMap { _ in
                blocks.randomElement(using: &random).flatMap { Unicode.Scalar(UInt32.random(in: $0, using: &random)) }
            }
            let label = String(String.UnicodeScalarView(scalars))
            guard let address = try? EmailAddress("ana@\(label).example") else { continue }
            accepted += 1
            #expect(try EmailAddress(address.text) == address, "\(scalars.map(\.value))")
        }
        #expect(accepted > 2_500)
    }
}
