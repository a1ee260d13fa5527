import AccountContract
import AccountCore
import AccountStoreTesting
import Testing

@Suite struct DecoyVerificationTests {
    @Test("Without a hash, verifies the decoy once and always returns false")
    func missingHash() async throws {
        let hashing = PlainHashing(acceptsAll: true)
        let gate = try HashingGate(hashing: hashing, width: 1)
        let decoy = try #require(hashing.hashed.first)
        #expect(try await !gate.verify(try Password("guess"), against: nil))
        #expect(hashing.verified.map { [$0.password, $0.hash] } == [["guess", "1:\(decoy)"]])
        #expect(hashing.hashed.count == 1, "the decoy is made once, when the gate is")
    }

    @Test("With a hash, verifies that hash once and returns its result")
    func presentHash() async throws {
        let hashing = PlainHashing(acceptsAll: true)
        let gate = try HashingGate(hashing: hashing, width: 1)
        #expect(try await gate.verify(try Password("guess"), against: "stored"))
        #expect(hashing.verified.map { [$0.password, $0.hash] } == [["guess", "stored"]])
    }

    @Test("Normalizes passwords, except those whose hash another system created")
    func normalisation() async throws {
        let gate = try HashingGate(hashing: PlainHashing(), width: 1)
        let (composed, decomposed) = (try Password("contrase\u{F1}a"), try Password("contrasen\u{303}a"))
        let hashes = [try await gate.hash(composed), try await gate.hash(decomposed)]
        #expect(hashes[0] == hashes[1])
        for typed in [composed, decomposed] { #expect(try await gate.verify(typed, against: hashes[0])) }
        let foreign = try PlainHashing().hash(decomposed.rawValue)
        #expect(try await gate.verify(decomposed, against: foreign))
        #expect(try await !gate.verify(composed, against: foreign))
        #expect(try await !gate.verify(try Password("contrasena"), against: hashes[0]))
    }

    @Test("Each gate has a random decoy whose password is unknown")
    func randomDecoy() throws {
        let decoys = try (0..<10).map { _ in
            let hashing = PlainHashing(acceptsAll: true)
            _ = try HashingGate(hashing: hashing, width: 1)
            return try #require(hashing.hashed.first)
        }
        #expect(Set(decoys).count == 10)
        #expect(decoys.allSatisfy { $0.count == 43 })
    }
}
