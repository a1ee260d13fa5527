import PasswordHashes
import Testing

@Suite struct Argon2idTests {
    /// The cheapest parameters that Argon2 allows, for tests of behavior that does not depend on them.
    private static let cheap = Argon2id.Parameters(memory: 8_192, passes: 1)

    @Test("The default hash is a PHC string of Argon2id: 19 MiB, two passes and one lane")
    func standardParameters() throws {
        let hash = try Argon2id().hash("correct horse")
        let fields = hash.split(separator: "$", omittingEmptySubsequences: false)
        try #require(fields.count == 6)
        #expect(fields[0].isEmpty)
        #expect(fields[1] == "argon2id")
        #expect(fields[2] == "v=19")
        #expect(fields[3] == "m=19456,t=2,p=1")
        #expect(fields[4].count == 22, "16 bytes of salt in base64")
        #expect(fields[5].count == 43, "32 bytes of hash in base64")
        #expect(hash.utf8.allSatisfy { (0x21...0x7E).contains($0) })
    }

    @Test("Only its own password matches a hash")
    func verify() throws {
        let argon2 = Argon2id()
        let hash = try argon2.hash("correct horse")
        #expect(argon2.verify("correct horse", against: hash))
        #expect(!argon2.verify("correct horsf", against: hash))
        #expect(!argon2.verify("Correct horse", against: hash))
        #expect(!argon2.verify("correct horse ", against: hash))
        #expect(!argon2.verify("", against: hash))
    }

    @Test("Two hashes of one password differ, and the password matches both")
    func salted() throws {
        let argon2 = Argon2id(parameters: Self.cheap)
        let hashes = try (0..<20).map { _ in try argon2.hash("correct horse") }
        #expect(Set(hashes).count == 20)
        #expect(hashes.allSatisfy { argon2.verify("correct horse", against: $0) })
    }

    @Test(
        "Every byte of a password counts, whatever its value",
        arguments: [
            "", " ", "\0", "a\0b", "contraseña", "пароль", "סיסמה", "🔑🗝️", "\u{FEFF}", "line\nbreak",
            String(repeating: "x", count: 4_096), String(repeating: "é", count: 100_000),
        ]
    )
    func anyPassword(_ password: String) throws {
        let argon2 = Argon2id(parameters: Self.cheap)
        let hash = try argon2.hash(password)
        #expect(argon2.verify(password, against: hash))
        #expect(!argon2.verify(password + "x", against: hash))
        #expect(!argon2.verify(password + "\0", against: hash))
    }

    @Test("Bytes after a NUL are part of the password")
    func bytesBehindNUL() throws {
        let argon2 = Argon2id(parameters: Self.cheap)
        let hash = try argon2.hash("a\0b")
        #expect(!argon2.verify("a", against: hash))
        #expect(!argon2.verify("a\0c", against: hash))
    }

    @Test(
        "A text that is not a hash matches no password",
        arguments: [
            "", "$", "garbage", "\0", "$argon2id$", "$argon2id$v=19$m=19456,t=2,p=1$", "$argon2id$v=19$m=1,t=0,p=0$AAAA$AAAA",
            "$2y$10$abcdefghijklmnopqrstuuAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "pbkdf2_sha256$600000$salt$hash",
            "$argon2id$v=19$m=99999999999,t=2,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "ñandú",
            String(repeating: "$argon2id", count: 10_000),
        ]
    )
    func noHash(_ text: String) throws {
        let argon2 = Argon2id(parameters: Self.cheap)
        #expect(!argon2.verify("", against: text))
        #expect(!argon2.verify("correct horse", against: text))
        #expect(argon2.needsRehash(text))
    }

    @Test("A truncated, extended or changed hash matches no password")
    func damagedHash() throws {
        let argon2 = Argon2id(parameters: Self.cheap)
        let hash = try argon2.hash("correct horse")
        let last = try #require(hash.last)
        #expect(!argon2.verify("correct horse", against: String(hash.dropLast())))
        #expect(!argon2.verify("correct horse", against: hash + "A"))
        #expect(!argon2.verify("correct horse", against: hash + "\0"))
        #expect(!argon2.verify("correct horse", against: hash.replacing("t=1", with: "t=2")))
        #expect(!argon2.verify("correct horse", against: String(hash.dropLast()) + (last == "A" ? "Q" : "A")))
    }

    @Test("A hash with any character of its digest changed does not match")
    func everyCharacter() throws {
        let argon2 = Argon2id(parameters: Self.cheap)
        let hash = try argon2.hash("correct horse")
        for place in hash.indices.suffix(43) {
            var changed = hash
            changed.replaceSubrange(place...place, with: hash[place] == "A" ? "Q" : "A")
            #expect(!argon2.verify("correct horse", against: changed), "\(changed)")
        }
    }

    /// Created by argon2-cffi and, the last one, by libsodium.
    private static let known = [
        ("correct horse", "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$k9ohroejZy1PN5E1SbHNPug6vB8eQAahb5SOAp6iGF4"),
        ("contraseña", "$argon2id$v=19$m=8,t=1,p=1$//79/Pv6+fg$1ijzAb5DmVk3nZku86vfQcQNdQfMYmRLJukEQgnTKes"),
        ("", "$argon2id$v=19$m=64,t=3,p=1$AAECAwQFBgcICQoLDA0ODw$Q4zJQ1ky1Z1LMYOdpzpqdDiDLpugMi1Bo+JnADgSut0"),
        ("correct horse", "$argon2id$v=19$m=19456,t=2,p=1$qV/j4sqL+BuOEIK3DGtIqg$ck6FSe63SLMpwtHHZqCxtii/71CmNdB/IG4gsIzg37I"),
    ]

    @Test("Verifies hashes of other Argon2id implementations")
    func knownHashes() {
        let argon2 = Argon2id()
        for (password, hash) in Self.known {
            #expect(argon2.verify(password, against: hash) && !argon2.verify(password + "x", against: hash), "\(hash)")
        }
    }

    @Test(
        "Renews a hash whose parameters differ from the current ones",
        arguments: [
            (Argon2id.Parameters(memory: 8_192, passes: 1), false), (Argon2id.Parameters(memory: 8_192, passes: 2), true),
            (Argon2id.Parameters(memory: 16_384, passes: 1), true),
        ]
    )
    func renewal(_ parameters: Argon2id.Parameters, isNeeded: Bool) throws {
        let hash = try Argon2id(parameters: Self.cheap).hash("correct horse")
        let newer = Argon2id(parameters: parameters)
        #expect(newer.needsRehash(hash) == isNeeded)
        #expect(newer.verify("correct horse", against: hash), "the old hash stays good until it is renewed")
    }

    @Test("A decoy costs as much as its hash, and hashes of the current cost need none")
    func decoys() throws {
        let argon2 = Argon2id(parameters: Self.cheap)
        let dear = try Argon2id(parameters: .init(memory: 16_384, passes: 3)).hash("correct horse")
        let decoy = try #require(argon2.decoy(like: dear))
        #expect(decoy.hasPrefix("$argon2id$v=19$m=16,t=3,p=1$") && decoy.count == dear.count)
        #expect(Argon2id.isAffordable(decoy))
        #expect(argon2.decoy(like: decoy) == decoy)
        #expect(!argon2.verify("correct horse", against: decoy) && !argon2.verify("", against: decoy))
        for text in [
            try argon2.hash("x"), "", "!", "garbage", "$argon2i$v=19$m=16,t=3,p=1$AAAA$AAAA",
            "$argon2id$v=19$m=16,t=3,p=2$AAAA$AAAA",
        ] {
            #expect(argon2.decoy(like: text) == nil, "\(text)")
        }
    }

    @Test("Refuses a hash with surplus bits at the end of a text")
    func damagedEnd() throws {
        let whole = "$argon2id$v=19$m=8192,t=2,p=1$" + String(repeating: "A", count: 22) + "$"
        for (end, isWhole) in [("A", true), ("B", false), ("E", true), ("D", false)] {
            let hash = whole + String(repeating: "A", count: 42) + end
            #expect(Argon2id.isAffordable(hash) == isWhole, "\(end)")
            #expect((Argon2id(parameters: Self.cheap).decoy(like: hash) != nil) == isWhole, "\(end)")
        }
    }

    @Test("Parameters that Argon2 does not allow fail a precondition")
    func impossibleParameters() async {
        await #expect(processExitsWith: .failure) { _ = Argon2id.Parameters(memory: 8_191, passes: 1) }
        await #expect(processExitsWith: .failure) { _ = Argon2id.Parameters(memory: 8_192, passes: 0) }
    }

    @Test("One value hashes on many threads concurrently")
    func concurrent() async throws {
        let argon2 = Argon2id(parameters: Self.cheap)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let hash = try argon2.hash("password \(number)")
                    return argon2.verify("password \(number)", against: hash) && !argon2.verify("password", against: hash)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
