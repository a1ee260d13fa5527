import AccountContract
import AccountStoreTesting
import Crypto
import Foundation
import HoldfastTesting
import Testing

@testable import AccountCore

@Suite struct DecoyMixTests {
    private let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
    private let addresses = (0..<2_000).map { "person\($0)@example.com" }

    private func decoys(_ mix: DecoyMix) -> [String?] { addresses.map { mix.decoy(at: key.point(of: $0)) } }

    @Test("Unknown addresses get decoys in the shares that the accounts' costs have")
    func shares() {
        let drawn = decoys(.following(["costly": 300, "bcrypt": 100], of: 1_000))
        #expect((540...660).contains(drawn.count { $0 == "costly" }))
        #expect((150...250).contains(drawn.count { $0 == "bcrypt" }))
        #expect(decoys(.ownAlone).allSatisfy { $0 == nil })
        #expect(decoys(.following([:], of: 0)).allSatisfy { $0 == nil })
        #expect(decoys(.following(["costly": 5], of: 5)).allSatisfy { $0 == "costly" })
    }

    @Test("An address keeps its decoy until its share migrates to the server's own cost")
    func stability() {
        var generator = SplitMix64(seed: 1)
        for _ in 0..<10 {
            var counts = ["costly": 400, "bcrypt": 200, "cheap": 100, "none": 0]
            var total = 1_000
            var mix = DecoyMix.following(counts, of: total)
            var last = decoys(mix)
            while counts.values.contains(where: { $0 > 0 }) {
                for (cost, count) in counts { counts[cost] = count - Int.random(in: 0...min(count, 60), using: &generator) }
                total += Int.random(in: 0...50, using: &generator)
                let before = mix
                mix.follow(counts, of: total)
                let now = decoys(mix)
                for (old, new) in zip(last, now) { #expect(new == nil || old == new) }
                last = now
                for (cost, count) in counts { #expect(abs(width(of: cost, in: mix) - Double(count) / Double(total)) < 1e-9) }
                let again = mix
                mix.follow(counts, of: total)
                #expect(mix == again, "looking once more changes nothing; before: \(before)")
            }
            #expect(last.allSatisfy { $0 == nil })
        }
    }

    @Test("An import takes unused ranges first and freed ranges only if none are left")
    func imports() {
        var mix = DecoyMix.following(["costly": 400], of: 1_000)
        let first = decoys(mix)
        mix.follow(["costly": 100], of: 1_000)
        mix.follow(["costly": 400, "bcrypt": 300], of: 1_000)
        for (old, new) in zip(first, decoys(mix)) where old == "costly" { #expect(new == "costly" || new == nil) }
        #expect(abs(width(of: "costly", in: mix) - 0.4) < 1e-9 && abs(width(of: "bcrypt", in: mix) - 0.3) < 1e-9)
        mix.follow(["cheap": 1_000], of: 1_000)
        #expect(decoys(mix).allSatisfy { $0 == "cheap" })
    }

    @Test("For any counts, each cost has its share and no two ranges overlap")
    func random() {
        var generator = SplitMix64(seed: 2)
        for _ in 0..<200 {
            var mix = DecoyMix.ownAlone
            for _ in 0..<20 {
                let counts = Dictionary(
                    uniqueKeysWithValues: ["a", "b", "c", "d"].map { ($0, Int.random(in: 0...100, using: &generator)) }
                )
                let total = Int.random(in: 0...600, using: &generator)
                mix.follow(counts, of: total)
                let sum = max(total, counts.values.reduce(0, +), 1)
                for (cost, count) in counts { #expect(abs(width(of: cost, in: mix) - Double(count) / Double(sum)) < 1e-9) }
                let spans = mix.spans.sorted { $0.start < $1.start }
                for (span, next) in zip(spans, spans.dropFirst()) { #expect(span.start + span.width < next.start + 1e-9) }
                #expect(
                    spans.allSatisfy { $0.start >= 0 && $0.width >= 0 && $0.width <= $0.reach && $0.start + $0.reach < 1 + 1e-9 }
                )
                #expect(spans.count < 100)
            }
        }
    }

    private func width(of cost: String, in mix: DecoyMix) -> Double {
        mix.spans.reduce(0) { $0 + ($1.decoy == cost ? $1.width : 0) }
    }

    @Test("A missing or unusable hash costs a decoy, and the decoy's password is refused")
    func gate() async throws {
        let hashing = PlainHashing(acceptsAll: true)
        let gate = try HashingGate(hashing: hashing, width: 1, decoyKey: key)
        gate.setDecoys(.following(["costly": 1], of: 1))
        for hash in [nil, Account.unusablePassword] {
            #expect(try await !gate.verify(try Password("any"), against: hash, of: "ana@example.com"))
        }
        #expect(hashing.verified.map(\.hash) == ["costly", "costly"])
        #expect(try await gate.verify(try Password("any"), against: "own", of: "ana@example.com"))
        #expect(hashing.verified.last?.hash == "own")
    }
}

extension DecoyMix {
    fileprivate static func following(_ counts: [String: Int], of total: Int) -> DecoyMix {
        var mix = DecoyMix.ownAlone
        mix.follow(counts, of: total)
        return mix
    }
}
