import AccountCore
import Foundation
import Testing

@Suite struct SigningKeySetTests {
    private func time(_ seconds: TimeInterval) -> Date { Date(timeIntervalSince1970: 1_750_000_000 + seconds) }

    private func material(_ id: String) -> SigningKey.Material { .init(id: id, sealed: Data(id.utf8)) }

    private func started(_ id: String = "a") -> SigningKeySet {
        var keys = SigningKeySet()
        keys.start(with: material(id), at: time(0))
        return keys
    }

    private func accepted(_ keys: SigningKeySet, at seconds: TimeInterval) -> [String] {
        keys.accepted(at: time(seconds)).map(\.id)
    }

    @Test("The first key signs at once and stays")
    func start() {
        let keys = started()
        #expect(keys.signer(at: time(0))?.id == "a")
        #expect(keys.signer(at: time(1e9))?.id == "a")
        #expect(keys.begin == time(0))
        #expect(SigningKeySet().signer(at: time(0)) == nil)
    }

    @Test(
        "A new key is published at once and signs after 360 s; the old lasts 960 s more",
        arguments: [
            (1_000.0, "a", ["a", "b"]), (1_359.9, "a", ["a", "b"]), (1_360, "b", ["a", "b"]), (2_319.9, "b", ["a", "b"]),
            (2_320, "b", ["b"]),
        ]
    )
    func rotation(at seconds: TimeInterval, signer: String, published: [String]) throws {
        var keys = started()
        try keys.rotate(to: material("b"), at: time(1_000))
        #expect(keys.signer(at: time(seconds))?.id == signer)
        #expect(accepted(keys, at: seconds) == published)
    }

    @Test("Every token that a key signs has expired before the key is refused")
    func acceptance() throws {
        var keys = started("0")
        for number in 1...20 { try keys.rotate(to: material("\(number)"), at: time(TimeInterval(number) * 361)) }
        let lifetime = SessionRules().accessTokenLifetime / .seconds(1)
        for second in stride(from: 0.0, to: 9_000, by: 2.5) {
            let signer = try #require(keys.signer(at: time(second)))
            #expect(keys.accepts(signer.id, at: time(second + lifetime)), "after \(second) s")
        }
    }

    @Test("A second rotation is refused until the new key signs")
    func pending() throws {
        var keys = started()
        try keys.rotate(to: material("b"), at: time(0))
        let pending = try #require(keys.pending(at: time(359)))
        #expect(throws: SigningKeyRefusal.pending(pending)) { try keys.rotate(to: material("c"), at: time(359)) }
        #expect(pending.id == "b" && keys.keys.count == 2)
        try keys.rotate(to: material("c"), at: time(360))
        #expect(keys.signer(at: time(360))?.id == "b" && keys.signer(at: time(720))?.id == "c")
    }

    @Test("A leaked key that signs is refused at once, and a new one signs at once")
    func leak() throws {
        var keys = started()
        try keys.retireNow("a", replacedBy: material("b"), at: time(10))
        #expect(accepted(keys, at: 10) == ["b"] && keys.signer(at: time(10))?.id == "b")
        #expect(keys.begin == time(0))
    }

    @Test("If a key is published when the signing one leaks, that key signs at once")
    func leakWhileRotating() throws {
        var keys = started()
        try keys.rotate(to: material("b"), at: time(0))
        try keys.retireNow("a", replacedBy: material("c"), at: time(10))
        #expect(keys.keys.map(\.id) == ["a", "b"] && keys.signer(at: time(10))?.id == "b")
        #expect(accepted(keys, at: 10) == ["b"])
    }

    @Test("If a key leaks before it signs, the present key stays")
    func leakBeforeSigning() throws {
        for isLeaked in [true, false] {
            var keys = started()
            try keys.rotate(to: material("b"), at: time(0))
            if isLeaked {
                try keys.retireNow("b", replacedBy: material("c"), at: time(10))
            } else {
                try keys.retire("b", replacedBy: material("c"), at: time(10))
            }
            #expect(accepted(keys, at: 10) == ["a"] && accepted(keys, at: 1e9) == ["a"])
            #expect(keys.signer(at: time(1e9))?.id == "a")
        }
    }

    @Test("If a key leaks after rotation, a fresh one signs and the old is refused in time")
    func leakAfterRotation() throws {
        var keys = started()
        try keys.rotate(to: material("b"), at: time(0))
        try keys.retireNow("b", replacedBy: material("c"), at: time(400))
        #expect(keys.signer(at: time(400))?.id == "c")
        #expect(accepted(keys, at: 400) == ["a", "c"] && accepted(keys, at: 1_320) == ["c"])
    }

    @Test("A leaked key that does not sign any more is refused, and nothing else changes")
    func leakOfOldKey() throws {
        var keys = started()
        try keys.rotate(to: material("b"), at: time(0))
        try keys.retireNow("a", replacedBy: material("c"), at: time(400))
        #expect(accepted(keys, at: 400) == ["b"] && keys.keys.count == 2)
    }

    @Test("Retiring the key that signs rotates it; a repetition changes nothing")
    func retirement() throws {
        var keys = started()
        try keys.retire("a", replacedBy: material("b"), at: time(0))
        #expect(keys.signer(at: time(359))?.id == "a" && keys.signer(at: time(360))?.id == "b")
        #expect(accepted(keys, at: 1_319) == ["a", "b"] && accepted(keys, at: 1_320) == ["b"])
        let before = keys
        try keys.retire("a", replacedBy: material("c"), at: time(1))
        #expect(keys == before)
    }

    @Test("A key that is unknown or refused can't be retired")
    func refusals() throws {
        var keys = started()
        #expect(throws: SigningKeyRefusal.unknown) { try keys.retire("x", replacedBy: material("b"), at: time(0)) }
        #expect(throws: SigningKeyRefusal.unknown) { try keys.retireNow("x", replacedBy: material("b"), at: time(0)) }
        try keys.retireNow("a", replacedBy: material("b"), at: time(5))
        #expect(throws: SigningKeyRefusal.retired(time(5))) { try keys.retireNow("a", replacedBy: material("c"), at: time(6)) }
    }

    @Test("A retired key is listed for 30 days, and its removal admits no old tokens")
    func listing() throws {
        var keys = started()
        try keys.retireNow("a", replacedBy: material("b"), at: time(0))
        let month = TimeInterval(30 * 86_400)
        try keys.rotate(to: material("c"), at: time(month))
        #expect(keys.keys.map(\.id) == ["b", "c"])
        #expect(keys.begin == time(0))
    }

    @Test("After any rotations and retirements, some key signs and few are published")
    func random() throws {
        var numbers = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            var keys = started("0")
            var second: TimeInterval = 0
            for step in 1...30 {
                second += TimeInterval.random(in: 0...500, using: &numbers)
                let id = keys.keys.randomElement(using: &numbers)?.id ?? ""
                let fresh = material("\(step)")
                switch Int.random(in: 0..<3, using: &numbers) {
                case 0: try? keys.rotate(to: fresh, at: time(second))
                case 1: try? keys.retire(id, replacedBy: fresh, at: time(second))
                default: try? keys.retireNow(id, replacedBy: fresh, at: time(second))
                }
                for later in [0, 1, 360, 1_320, 1e6] {
                    let signer = try #require(keys.signer(at: time(second + later)))
                    #expect(signer.signsFrom <= time(second + later))
                }
                #expect(keys.accepted(at: time(second)).count <= 8)
                #expect(keys.keys.filter { $0.retiredAt == nil }.count == 1)
            }
        }
    }
}
