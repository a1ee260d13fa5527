import AccountContract
import Crypto
import Foundation
import Synchronization
import Testing

@testable import AccountCore

@Suite struct DecoyMixTests {
    private let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
    private let addresses = (0..<2_000).map { "person\($0)@example.com" }

    private func decoys(_ mix: DecoyMix) -> [String?] { addresses.map { mix.decoy(at: key.point(of: $0)) } }

    @Test("Addresses without an account get decoys in the shares that costs have among the accounts")
    func shares() {
        let mix = DecoyMix(foreign: ["costly": 300, "bcrypt": 100], total: 1_000)
        let drawn = decoys(mix)
        #expect((540...660).contains(drawn.count { $0 == "costly" }))
        #expect((150...250).contains(drawn.count { $0 == "bcrypt" }))
        #expect(decoys(.ownAlone).allSatisfy { $0 == nil })
        #expect(decoys(DecoyMix(foreign: ["costly": 5], total: 5)).allSatisfy { $0 == "costly" })
    }

    @Test("An address has the same decoy whenever it asks, and goes over to our own as accounts do, but never back")
    func stability() {
        var last = decoys(DecoyMix(foreign: ["costly": 900], total: 1_000))
        #expect(last == decoys(DecoyMix(foreign: ["costly": 900], total: 1_000)))
        for left in stride(from: 800, through: 0, by: -100) {
            let now = decoys(DecoyMix(foreign: ["costly": left], total: 1_000))
            for (before, after) in zip(last, now) { #expect(after == nil || before == after) }
            last = now
        }
        #expect(last.allSatisfy { $0 == nil })
    }

    @Test("A missing account, and one without a usable hash, cost a decoy; a password that is the decoy's lets nobody in")
    func gate() async throws {
        let hashing = NotingHashing()
        let gate = try HashingGate(hashing: hashing, width: 1, decoyKey: key)
        gate.setDecoys(DecoyMix(foreign: ["costly": 1], total: 1))
        for hash in [nil, Account.unusablePassword] {
            #expect(try await !gate.verify(try Password("any"), against: hash, of: "ana@example.com"))
        }
        #expect(hashing.verified == ["costly", "costly"])
        #expect(try await gate.verify(try Password("any"), against: "own", of: "ana@example.com"))
        #expect(hashing.verified.last == "own")
    }
}

/// Hashing that takes every password for right, and notes the hashes that it was asked for.
private final class NotingHashing: PasswordHashing {
    private let hashes = Mutex<[String]>([])

    var verified: [String] { hashes.withLock { $0 } }

    func hash(_ password: String) throws -> String { "decoy" }
    func needsRehash(_ hash: String) -> Bool { false }
    func verify(_ password: String, against hash: String) -> Bool {
        hashes.withLock { $0.append(hash) }
        return true
    }
}
