import AccountContract
import HoldfastTesting
import Testing

/// Most addresses use a fast path. A space before an address forces the general path and has no other effect.
@Suite struct PlainEmailTests {
    private func read(_ text: String) -> Result<[String], EmailRefusal> {
        do throws(EmailRefusal) {
            let address = try EmailAddress(text)
            return .success([address.text, address.normalized])
        } catch {
            return .failure(error)
        }
    }

    @Test("Reads a plain ASCII address with the same result as the general path")
    func samePaths() {
        var generator = SplitMix64(seed: 11)
        let parts = [
            "a", "b", "Z", "9", "-", "--", ".", "..", "@", "xn--", "com", "x", "_", "+", "%", " ", "é", "example", "co.uk",
            "\u{0}",
        ]
        var accepted = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...9, using: &generator)).compactMap { _ in parts.randomElement(using: &generator) }
                .joined()
            #expect(read(text) == read(" " + text), "\(text.debugDescription)")
            if case .success = read(text) { accepted += 1 }
        }
        #expect(accepted > 20)
    }

    @Test("Enforces the length limits")
    func bounds() {
        let label = { String(repeating: "a", count: $0) }
        for local in [1, 64, 65] {
            for length in [62, 63, 64] {
                let text = "\(label(local))@\(label(length)).\(label(63)).com"
                #expect(read(text) == read(" " + text))
            }
        }
        for last in 1...64 {
            let text = "a@\(label(last))"
            #expect(read(text) == read(" " + text))
            let top = "a@b.\(label(last))"
            #expect(read(top) == read(" " + top))
            let whole = "a@\(label(63)).\(label(63)).\(label(63)).\(label(last))"
            #expect(read(whole) == read(" " + whole))
            let long = "\(label(64))@\(label(63)).\(label(60)).\(label(last))"
            #expect(read(long) == read(" " + long))
        }
    }
}
