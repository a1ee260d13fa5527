import AccountContract
import AccountStoreTesting
import Crypto
import Foundation
import HoldfastTesting
import StrictJSON
import Synchronization
import Testing
import Timekeeping
import TokenVerifier

@testable import AccountCore

@Suite struct SigningKeysTests {
    private static let issuer = "https://accounts.example.com"
    private static let secret = ServerKeys(secret: SymmetricKey(data: [UInt8](repeating: 7, count: 32)))

    /// A server: its keys, which it reads from stores that it may share.
    private final class Server: Sendable {
        let stores: InMemoryAccountStores
        let wall: WallClock
        let clock: ManualClock
        let keys: SigningKeys
        let tokens: AccessTokens

        init(
            _ stores: InMemoryAccountStores = InMemoryAccountStores(),
            wall: WallClock = WallClock(),
            clock: ManualClock = ManualClock(),
            secret: ServerKeys = SigningKeysTests.secret,
            previous: ServerKeys? = nil,
            audience: String = "Notes"
        ) {
            (self.stores, self.wall, self.clock) = (stores, wall, clock)
            keys = SigningKeys(
                store: stores.signingKeys,
                secrets: SigningKeySecrets(secret, previous: previous),
                clock: MonotonicClock(clock),
                now: wall.now
            )
            tokens = AccessTokens(keys: keys, audience: audience, acceptingLegacy: [secret]) { SigningKeysTests.issuer }
        }

        func issue() async throws -> String {
            let account = try Account.sample()
            let session = StoredSession.ID(rawValue: UUID())
            return try await tokens.issue(for: account, session: session, at: wall.now(), lifetime: .seconds(900))
        }

        func accepts(_ token: String) async throws -> Bool {
            do {
                _ = try await tokens.read(token, at: wall.now())
                return true
            } catch is AccountError {
                return false
            }
        }

        func signer() async throws -> String { try await keys.stored().signer(at: wall.now())?.id ?? "" }

        /// A verifier in another service, which fetches the published keys.
        func verifier(rules: TokenVerifier.Rules = .init()) -> TokenVerifier {
            TokenVerifier(
                issuer: SigningKeysTests.issuer,
                audience: "Notes",
                rules: rules,
                clock: MonotonicClock(clock),
                now: wall.now
            ) { [keys] in try await keys.published().document }
        }

        func advance(_ seconds: TimeInterval) {
            wall.advance(by: seconds)
            clock.advance(by: .seconds(seconds))
        }
    }

    // MARK: - What is issued

    @Test("Another service verifies a token by the published keys alone")
    func publishedKeys() async throws {
        let server = Server()
        let account = try Account.sample()
        let session = UUID()
        let token = try await server.tokens.issue(
            for: account,
            session: .init(rawValue: session),
            at: server.wall.now(),
            lifetime: .seconds(900)
        )
        let verified = try await server.verifier().verify(token)
        #expect(verified.accountID == account.id.rawValue && verified.sessionID == session && verified.isEmailVerified)
        #expect(verified.expiresAt.timeIntervalSince(verified.issuedAt) == 900)
        #expect(verified.claims.string("iss") == Self.issuer && verified.claims.string("aud") == "Notes")
        let header = try #require(Base64URL.decoded(String(token.prefix { $0 != "." })))
        let signer = try await server.signer()
        #expect(String(decoding: header, as: UTF8.self) == #"{"alg":"ES256","kid":"\#(signer)","typ":"at+jwt"}"#)
    }

    @Test("The published keys have no private part, and their tag changes with them")
    func noPrivatePart() async throws {
        let server = Server()
        let (document, tag) = try await server.keys.published()
        let members = try #require(try JSONParser().parse(document).objectValue?["keys"]?.arrayValue)
        #expect(members.count == 1)
        #expect(Set(members[0].objectValue?.members.map(\.key) ?? []) == ["kty", "crv", "use", "alg", "kid", "x", "y"])
        try await server.keys.rotate()
        let (longer, other) = try await server.keys.published()
        #expect(tag != other && longer.count > document.count)
        #expect(try await server.keys.published().tag == other)
    }

    @Test("The store has no private key in clear")
    func sealedKeys() async throws {
        let server = Server()
        let key = try #require(try await server.keys.stored().keys.first)
        let opened = try #require(SigningKeySecrets(Self.secret).open(key))
        #expect(key.sealed.range(of: opened.rawRepresentation) == nil)
        // The bytes belong to their key.
        let other = SigningKey(id: "0000000000000000", sealed: key.sealed, createdAt: .now, signsFrom: .now, retiredAt: nil)
        #expect(SigningKeySecrets(Self.secret).open(other) == nil)
    }

    // MARK: - Rotation

    @Test("Across three rotations, neither a server nor a verifier refuses a token")
    func rotations() async throws {
        let server = Server()
        let second = Server(server.stores, wall: server.wall, clock: server.clock)
        let verifier = server.verifier()
        var live: [(token: String, issuedAt: Date)] = []
        var signers: Set<String> = []
        for step in 0..<160 {
            if [10, 50, 90].contains(step) { try await server.keys.rotate() }
            live.append((try await (step.isMultiple(of: 2) ? server : second).issue(), server.wall.now()))
            live.removeAll { server.wall.now().timeIntervalSince($0.issuedAt) > 880 }
            // The oldest, the newest and one between them.
            for token in [live[0], live[live.count / 2], live[live.count - 1]].map(\.token) {
                #expect(try await server.accepts(token))
                #expect(try await second.accepts(token))
                _ = try await verifier.verify(token)
            }
            signers.insert(try await server.signer())
            server.advance(20)
        }
        #expect(signers.count == 4)
    }

    /// `HOLDFAST_VERIFICATIONS=1000000 swift test --traits Server --filter SigningKeysTests.load` is the long round.
    @Test("Under load across three rotations no verification is refused", .timeLimit(.minutes(60)))
    func load() async throws {
        let count = ProcessInfo.processInfo.environment["HOLDFAST_VERIFICATIONS"].flatMap { Int($0) } ?? 1_000
        let server = Server()
        let second = Server(server.stores, wall: server.wall, clock: server.clock)
        let verifier = server.verifier()
        let (steps, tasks) = (100, 4)
        let share = (count + steps * tasks - 1) / (steps * tasks)
        var live: [(token: String, issuedAt: Date)] = []
        var verified = 0
        for step in 0..<steps {
            if [15, 45, 75].contains(step) { try await server.keys.rotate() }
            for number in 0..<2 { live.append((try await (number == 0 ? server : second).issue(), server.wall.now())) }
            live.removeAll { server.wall.now().timeIntervalSince($0.issuedAt) > 880 }
            let tokens = live.map(\.token)
            verified += try await withThrowingTaskGroup(of: Int.self) { group in
                for task in 0..<tasks {
                    group.addTask {
                        for number in 0..<share {
                            let token = tokens[(task * share + number) % tokens.count]
                            // Both throw if they refuse it. Every eighth goes to a server, which checks each signature once.
                            if number % 8 == 7 {
                                _ = try await second.tokens.read(token, at: second.wall.now())
                            } else {
                                _ = try await verifier.verify(token)
                            }
                        }
                        return share
                    }
                }
                return try await group.reduce(0, +)
            }
            server.advance(20)
        }
        #expect(verified >= count)
        #expect(try await server.keys.stored().keys.count == 4)
    }

    @Test("A verified token is refused within 1 s if another server retires its leaked key")
    func leak() async throws {
        let server = Server()
        let second = Server(server.stores, wall: server.wall, clock: server.clock)
        let token = try await server.issue()
        #expect(try await second.accepts(token))
        let leaked = try await server.signer()
        let keys = try await server.keys.retire(leaked, isLeaked: true)
        #expect(try await !server.accepts(token))
        server.advance(1)
        #expect(try await !second.accepts(token))
        let fresh = try await second.issue()
        #expect(try await server.accepts(fresh))
        #expect(try await second.signer() == keys.signer(at: server.wall.now())?.id)
        #expect(try await second.signer() != leaked)
    }

    @Test("A leaked key stays refused if the wall clock is set back")
    func leakBeforeClockStep() async throws {
        let server = Server()
        let token = try await server.issue()
        let leaked = try await server.signer()
        try await server.keys.retire(leaked, isLeaked: true)
        server.wall.advance(by: -3_600)
        server.clock.advance(by: .seconds(1))
        #expect(try await !server.accepts(token))
        #expect(try await server.signer() != leaked)
        let fresh = try await server.issue()
        #expect(try await server.accepts(fresh))
        await #expect(throws: SigningKeyRefusal.self) { try await server.keys.retire(leaked, isLeaked: true) }
    }

    @Test("Attack: a token replayed after its key was rotated out is refused everywhere")
    func replayWithRotatedKey() async throws {
        let server = Server()
        let old = try await server.signer()
        let stored = try #require(try await server.keys.stored().keys.first)
        let key = try #require(SigningKeySecrets(Self.secret).open(stored))
        let token = try await server.issue()
        let verifier = server.verifier()
        try await server.keys.rotate()
        server.advance(1_320)
        #expect(try await !server.accepts(token))
        // The attacker has the old private key and forges a token that has not expired.
        let now = Int(server.wall.now().timeIntervalSince1970)
        let payload = Self.payload(issuedAt: now)
        let forged = try Self.token(#"{"alg":"ES256","kid":"\#(old)","typ":"at+jwt"}"#, payload) {
            Array(try key.signature(for: $0).rawRepresentation)
        }
        #expect(try await !server.accepts(forged))
        await #expect(throws: TokenRefusal.unknownKey) { try await verifier.verify(forged) }
        #expect(try await server.accepts(try await server.issue()))
    }

    // MARK: - The store

    @Test("A hundred concurrent readers cause one read of the store per second")
    func singleFlight() async throws {
        let reads = Mutex(0)
        let stores = InMemoryAccountStores { if $0 == "signingKeys.signingKeys" { reads.withLock { $0 += 1 } } }
        let server = Server(stores)
        let token = try await server.issue()
        for _ in 0..<3 {
            server.advance(1)
            let before = reads.withLock { $0 }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        let isAccepted = try await server.accepts(token)
                        #expect(isAccepted)
                    }
                }
                try await group.waitForAll()
            }
            #expect(reads.withLock { $0 } == before + 1)
        }
    }

    @Test("While the store fails, no token is read or issued with keys older than a second")
    func failure() async throws {
        let isDown = Mutex(false)
        let stores = InMemoryAccountStores { _ in
            if isDown.withLock({ $0 }) { throw StoreFailure(isBusy: true, message: "down") }
        }
        let server = Server(stores)
        let token = try await server.issue()
        isDown.withLock { $0 = true }
        #expect(try await server.accepts(token))
        server.advance(1)
        await #expect(throws: StoreFailure.self) { try await server.accepts(token) }
        await #expect(throws: StoreFailure.self) { try await server.issue() }
        isDown.withLock { $0 = false }
        #expect(try await server.accepts(token))
    }

    @Test("Servers that start at the same time create one key")
    func concurrentStart() async throws {
        let stores = InMemoryAccountStores()
        let wall = WallClock()
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await Server(stores, wall: wall).issue() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(try await stores.signingKeys.signingKeys().keys.count == 1)
        for token in tokens { #expect(try await Server(stores, wall: wall).accepts(token)) }
    }

    // MARK: - The secret

    @Test("Replacing the secret refuses no token, and later the previous one is not needed")
    func replacedSecret() async throws {
        let old = Server()
        let token = try await old.issue()
        let secret = ServerKeys(secret: SymmetricKey(size: .bits256))
        let new = Server(old.stores, wall: old.wall, clock: old.clock, secret: secret, previous: Self.secret)
        #expect(try await new.accepts(token))
        let second = try await new.issue()
        #expect(try await old.accepts(second))
        #expect(try await new.keys.stored().keys.count == 2)
        new.advance(360)
        let third = try await new.issue()
        #expect(try await new.accepts(second))
        new.advance(960)
        let alone = Server(old.stores, wall: old.wall, clock: old.clock, secret: secret)
        #expect(try await alone.keys.stored().keys.count == 2)
        #expect(try await !alone.accepts(second))
        let fourth = try await alone.issue()
        #expect(try await new.accepts(fourth))
        #expect(third != fourth)
    }

    @Test("If the secret was lost, a new key signs at once")
    func lostSecret() async throws {
        let old = Server()
        let token = try await old.issue()
        let new = Server(old.stores, wall: old.wall, clock: old.clock, secret: ServerKeys(secret: SymmetricKey(size: .bits256)))
        #expect(try await !new.accepts(token))
        let fresh = try await new.issue()
        #expect(try await new.accepts(fresh))
        _ = try await new.verifier().verify(fresh)
    }

    // MARK: - Attacks

    @Test("Attack: key confusion. A token's header chooses neither algorithm nor key")
    func keyConfusion() async throws {
        let server = Server()
        let id = try await server.signer()
        let genuine = try await server.issue()
        let attacker = P256.Signing.PrivateKey()
        let point = attacker.publicKey.rawRepresentation
        let (x, y) = (Base64URL.encoded(point.prefix(32)), Base64URL.encoded(point.suffix(32)))
        let jwk = #"{"kty":"EC","crv":"P-256","kid":"\#(id)","x":"\#(x)","y":"\#(y)"}"#
        let payload = Self.payload(issuedAt: Int(server.wall.now().timeIntervalSince1970))
        func signed(_ header: String) throws -> String {
            try Self.token(header, payload) { Array(try attacker.signature(for: $0).rawRepresentation) }
        }
        let document = try await server.keys.published().document
        let key = try #require(SigningKeySecrets(Self.secret).open(try await server.keys.stored().keys[0])).publicKey
        let (spki, pem) = (key.derRepresentation, key.pemRepresentation)
        func hashed(_ header: String, _ key: some Sequence<UInt8>) -> String {
            let secret = SymmetricKey(data: Array(key))
            return Self.token(header, payload) { Array(HMAC<SHA256>.authenticationCode(for: $0, using: secret)) }
        }
        let parts = genuine.split(separator: ".").map(String.init)
        let none = Base64URL.encoded(Array(#"{"alg":"none","kid":"\#(id)","typ":"at+jwt"}"#.utf8))
        let attacks: [(String, String)] = [
            ("another key under our kid", try signed(#"{"alg":"ES256","kid":"\#(id)","typ":"at+jwt"}"#)),
            ("an unknown kid", try signed(#"{"alg":"ES256","kid":"x","typ":"at+jwt"}"#)),
            ("a kid that is a path", try signed(#"{"alg":"ES256","kid":"../../dev/null","typ":"at+jwt"}"#)),
            ("a kid that is SQL", try signed(#"{"alg":"ES256","kid":"' OR 1=1 --","typ":"at+jwt"}"#)),
            ("an empty kid", try signed(#"{"alg":"ES256","kid":"","typ":"at+jwt"}"#)),
            ("no kid", try signed(#"{"alg":"ES256","typ":"at+jwt"}"#)),
            ("jku", try signed(#"{"alg":"ES256","kid":"\#(id)","typ":"at+jwt","jku":"https://attacker.example/jwks.json"}"#)),
            ("x5u", try signed(#"{"alg":"ES256","kid":"\#(id)","typ":"at+jwt","x5u":"https://attacker.example/key.pem"}"#)),
            ("an embedded key", try signed(#"{"alg":"ES256","kid":"\#(id)","typ":"at+jwt","jwk":\#(jwk)}"#)),
            ("an embedded key without kid", try signed(#"{"alg":"ES256","typ":"at+jwt","jwk":\#(jwk)}"#)),
            ("critical extensions", try signed(#"{"alg":"ES256","kid":"\#(id)","typ":"at+jwt","crit":["x"]}"#)),
            ("HS256 by the public key in DER", hashed(#"{"alg":"HS256","typ":"at+jwt"}"#, spki)),
            ("HS256 by the public key in PEM", hashed(#"{"alg":"HS256","typ":"JWT"}"#, pem.utf8)),
            ("HS256 by the key set", hashed(#"{"alg":"HS256","typ":"JWT"}"#, document)),
            ("HS256 with our kid by the public key", hashed(#"{"alg":"HS256","kid":"\#(id)","typ":"at+jwt"}"#, spki)),
            (
                "HS256 with a kid by the secret of earlier versions",
                Self.token(#"{"alg":"HS256","kid":"\#(id)","typ":"JWT"}"#, Self.payload(issuedAt: 1)) {
                    Array(HMAC<SHA256>.authenticationCode(for: $0, using: Self.secret.accessTokens))
                }
            ),
            ("alg none", none + "." + parts[1] + "."),
            ("alg none with the genuine signature", none + "." + parts[1] + "." + parts[2]),
            ("no signature", parts[0] + "." + parts[1] + "."),
            ("another type", try signed(#"{"alg":"ES256","kid":"\#(id)","typ":"JWT"}"#)),
        ]
        #expect(try await server.accepts(genuine))
        for (name, token) in attacks { #expect(try await !server.accepts(token), "\(name)") }
    }

    @Test("A genuine token of another audience or of another type is refused")
    func otherAudience() async throws {
        let server = Server()
        let other = Server(server.stores, wall: server.wall, clock: server.clock, audience: "Photos")
        #expect(try await !other.accepts(try await server.issue()))
        let key = try #require(SigningKeySecrets(Self.secret).open(try await server.keys.stored().keys[0]))
        let payload = Self.payload(issuedAt: Int(server.wall.now().timeIntervalSince1970))
        for (type, isAccepted) in [("at+jwt", true), ("AT+JWT", true), ("JWT", false), ("logout+jwt", false)] {
            let id = try await server.signer()
            let token = try Self.token(#"{"alg":"ES256","kid":"\#(id)","typ":"\#(type)"}"#, payload) {
                Array(try key.signature(for: $0).rawRepresentation)
            }
            #expect(try await server.accepts(token) == isAccepted, "\(type)")
        }
    }

    @Test("The table of verified tokens is bounded and has the newest tokens")
    func boundedTable() throws {
        let table = VerifiedTokens(limit: 100)
        let digests = (0..<1_000).map { TokenDigest(of: "\($0)") }
        for (number, digest) in digests.enumerated() {
            let claims = AccessTokens.Claims(
                accountID: .init(rawValue: UUID()),
                sessionID: .init(rawValue: UUID()),
                epoch: number
            )
            table.insert(.init(claims: claims, keyID: "a", expiry: 0), for: digest)
            #expect(table.count <= 100)
            #expect(table[digest]?.claims.epoch == number)
            if number >= 49 { #expect(table[digests[number - 49]] != nil) }
        }
        #expect(table[digests[0]] == nil)
    }

    private static func payload(issuedAt: Int) -> String {
        let (account, session) = (UUID().uuidString, UUID().uuidString)
        let times = #""iat":\#(issuedAt),"exp":\#(issuedAt + 900)"#
        return #"{"iss":"\#(issuer)","aud":"Notes","sub":"\#(account)","sid":"\#(session)","epoch":0,\#(times)}"#
    }

    private static func token(_ header: String, _ payload: String, sign: (Data) throws -> [UInt8]) rethrows -> String {
        let signed = Base64URL.encoded(Array(header.utf8)) + "." + Base64URL.encoded(Array(payload.utf8))
        return signed + "." + Base64URL.encoded(try sign(Data(signed.utf8)))
    }
}
