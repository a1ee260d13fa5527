import AccountContract
import AccountCore
import Crypto
import ErrorContract
import Foundation
import Testing

@Suite struct AccessTokensTests {
    private let keys = ServerKeys(secret: SymmetricKey(data: [UInt8](repeating: 7, count: 32)))
    private let now = Date(timeIntervalSince1970: 1_750_000_000)
    private let session = StoredSession.ID(rawValue: UUID())

    /// Tokens of one installation, which two issuers share if they have the same stores.
    private func makeTokens(
        _ stores: InMemoryAccountStores = InMemoryAccountStores(),
        secret: ServerKeys? = nil,
        previous: ServerKeys? = nil,
        audience: String = "Notes",
        clock: WallClock? = nil
    ) -> AccessTokens {
        let (secret, now) = (secret ?? keys, now)
        let signing = SigningKeys(
            store: stores.signingKeys,
            secrets: SigningKeySecrets(secret, previous: previous),
            now: { clock?.now() ?? now }
        )
        return AccessTokens(keys: signing, audience: audience, acceptingLegacy: [secret] + (previous.map { [$0] } ?? [])) {
            "https://accounts.example.com"
        }
    }

    private func makeAccount(epoch: Int = 0) throws -> Account {
        Account(
            id: Account.ID(rawValue: UUID()),
            email: try EmailAddress("ana@example.com"),
            firstName: try FirstName("Ana"),
            passwordHash: "hash",
            language: .english,
            epoch: epoch,
            createdAt: now
        )
    }

    /// Returns a token of any header and payload, signed with a key.
    private func forged(header: String, payload: String, key: SymmetricKey) -> String {
        func encoded(_ data: Data) -> String {
            data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }
        let signed = encoded(Data(header.utf8)) + "." + encoded(Data(payload.utf8))
        return signed + "." + encoded(Data(HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: key)))
    }

    private func payload(issuedAfter seconds: Int = -60) -> String {
        let issued = Int(now.timeIntervalSince1970) + seconds
        return #"{"sub":"\#(UUID().uuidString)","sid":"\#(session)","epoch":0,"iat":\#(issued),"exp":\#(issued + 900)}"#
    }

    @Test("An issued token is read back with the same claims", arguments: [0, 1, 4_711])
    func roundTrip(epoch: Int) async throws {
        let tokens = makeTokens()
        let account = try makeAccount(epoch: epoch)
        let token = try await tokens.issue(for: account, session: session, at: now, lifetime: .seconds(900))
        let claims = try await tokens.read(token, at: now)
        #expect(claims.accountID == account.id)
        #expect(claims.sessionID == session)
        #expect(claims.epoch == epoch)
        let parts = token.split(separator: ".")
        #expect(parts.count == 3)
        let padded = String(parts[1]) + String(repeating: "=", count: (4 - parts[1].count % 4) % 4)
        let base64 = padded.replacing("-", with: "+").replacing("_", with: "/")
        let payload = String(decoding: try #require(Data(base64Encoded: base64)), as: UTF8.self)
        #expect(payload.contains(account.id.description))
        #expect(!payload.contains("ana@") && !payload.contains(account.firstName.rawValue), "nothing personal")
    }

    @Test("A second server with the same database and secret reads the token")
    func sharedSecret() async throws {
        let account = try makeAccount()
        let stores = InMemoryAccountStores()
        let token = try await makeTokens(stores).issue(for: account, session: session, at: now, lifetime: .seconds(900))
        #expect(try await makeTokens(stores).read(token, at: now).accountID == account.id)
    }

    @Test(
        "A token expires by the given clock, to the second",
        arguments: [(0, true), (899, true), (900, false), (86_400, false)]
    )
    func expiry(afterSeconds seconds: Int, isAccepted: Bool) async throws {
        let tokens = makeTokens()
        let token = try await tokens.issue(for: try makeAccount(), session: session, at: now, lifetime: .seconds(900))
        let later = now.addingTimeInterval(TimeInterval(seconds))
        if isAccepted {
            _ = try await tokens.read(token, at: later)
        } else {
            await #expect(throws: AccountError.tokenExpired) { try await tokens.read(token, at: later) }
        }
    }

    @Test("Refuses a token with any one character changed")
    func tampered() async throws {
        let tokens = makeTokens()
        let token = try await tokens.issue(for: try makeAccount(), session: session, at: now, lifetime: .seconds(900))
        for index in token.indices where token[index] != "." {
            var changed = token
            changed.replaceSubrange(index...index, with: token[index] == "A" ? "B" : "A")
            await #expect(throws: AccountError.tokenInvalid) { try await tokens.read(changed, at: now) }
        }
    }

    @Test("Refuses other encodings of a token's bytes: padding, spare bits, plain base64")
    func notCanonical() async throws {
        let tokens = makeTokens()
        var (padded, spare, plain) = (0, 0, 0)
        for _ in 0..<20 {
            let token = try await tokens.issue(for: try makeAccount(), session: session, at: now, lifetime: .seconds(900))
            for other in [token + ".", "." + token, " " + token, token + "\n"] {
                await #expect(throws: AccountError.tokenInvalid) { try await tokens.read(other, at: now) }
            }
            let parts = token.split(separator: ".").map(String.init)
            for number in parts.indices {
                func with(_ part: String) -> String {
                    parts.enumerated().map { $0.offset == number ? part : $0.element }.joined(separator: ".")
                }
                var others: [String] = []
                let missing = (4 - parts[number].count % 4) % 4
                if missing > 0 {
                    others.append(with(parts[number] + String(repeating: "=", count: missing)))
                    padded += 1
                    // The same bytes with a spare bit set.
                    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
                    let last = try #require(parts[number].last.flatMap { alphabet.firstIndex(of: $0) })
                    others.append(with(String(parts[number].dropLast()) + String(alphabet[last + 1])))
                    spare += 1
                }
                if parts[number].contains(where: { "-_".contains($0) }) {
                    others.append(with(parts[number].replacing("-", with: "+").replacing("_", with: "/")))
                    plain += 1
                }
                others += [with(parts[number] + " "), with(parts[number] + "\n"), with(parts[number] + "=")]
                for other in others {
                    await #expect(throws: AccountError.tokenInvalid) { try await tokens.read(other, at: now) }
                }
            }
        }
        #expect(padded > 0 && spare > 0 && plain > 0)
    }

    @Test("Refuses a token of another key for its signature, even if it is expired")
    func otherKey() async throws {
        let other = makeTokens(secret: ServerKeys(secret: SymmetricKey(size: .bits256)))
        let token = try await other.issue(for: try makeAccount(), session: session, at: now, lifetime: .seconds(900))
        let tokens = makeTokens()
        await #expect(throws: AccountError.tokenInvalid) { try await tokens.read(token, at: now) }
        await #expect(throws: AccountError.tokenInvalid) { try await tokens.read(token, at: now.addingTimeInterval(9_000)) }
    }

    @Test(
        "Accepts a token of an earlier version from before the upgrade for 15 minutes",
        arguments: [(-60, 0, true), (-1, 898, true), (0, 0, false), (60, 0, false), (-60, 839, true)]
    )
    func legacy(issuedAfter seconds: Int, readAfter: Int, isAccepted: Bool) async throws {
        let payload = payload(issuedAfter: seconds)
        let token = forged(header: #"{"alg":"HS256","typ":"JWT"}"#, payload: payload, key: keys.accessTokens)
        let tokens = makeTokens()
        // The upgrade.
        _ = try await tokens.issue(for: try makeAccount(), session: session, at: now, lifetime: .seconds(900))
        let time = now.addingTimeInterval(TimeInterval(readAfter))
        if isAccepted {
            #expect(try await tokens.read(token, at: time).sessionID == session)
        } else {
            await #expect(throws: AccountError.tokenInvalid) { try await tokens.read(token, at: time) }
        }
    }

    @Test("Refuses an unexpired token of an earlier version 15 minutes after the upgrade")
    func longLegacy() async throws {
        let issued = Int(now.timeIntervalSince1970) - 1
        let times = #""iat":\#(issued),"exp":\#(issued + 86_400)"#
        let payload = #"{"sub":"\#(UUID().uuidString)","sid":"\#(session)","epoch":0,\#(times)}"#
        let token = forged(header: #"{"alg":"HS256","typ":"JWT"}"#, payload: payload, key: keys.accessTokens)
        let tokens = makeTokens()
        _ = try await tokens.read(token, at: now)
        _ = try await tokens.read(token, at: now.addingTimeInterval(899))
        await #expect(throws: AccountError.tokenInvalid) { try await tokens.read(token, at: now.addingTimeInterval(900)) }
    }

    @Test("Accepts a token of an earlier version that the previous secret signed")
    func legacyOfPreviousSecret() async throws {
        let previous = ServerKeys(secret: SymmetricKey(size: .bits256))
        let token = forged(header: #"{"alg":"HS256","typ":"JWT"}"#, payload: payload(), key: previous.accessTokens)
        _ = try await makeTokens(previous: previous).read(token, at: now)
        await #expect(throws: AccountError.tokenInvalid) { try await makeTokens().read(token, at: now) }
    }

    @Test(
        "Refuses a token that names another algorithm, signed or not",
        arguments: ["none", "None", "NONE", "nOnE", "", "HS384", "HS512", "RS256", "ES256", "ES384", "EdDSA"]
    )
    func otherAlgorithm(_ name: String) async throws {
        let tokens = makeTokens()
        let signed = forged(header: #"{"alg":"\#(name)","typ":"JWT"}"#, payload: payload(), key: SymmetricKey(size: .bits256))
        let unsigned = signed.split(separator: ".").dropLast().joined(separator: ".")
        for token in [signed, unsigned, unsigned + "."] {
            await #expect(throws: AccountError.tokenInvalid) { try await tokens.read(token, at: now) }
        }
    }

    @Test(
        "Refuses a payload without the expected claims, even with a valid signature",
        arguments: [
            "{}", "[]", "null", #"{"sub":"x","sid":"y","epoch":0,"iat":0,"exp":9999999999}"#,
            #"{"sub":"00000000-0000-4000-8000-000000000000","epoch":0,"iat":0,"exp":9999999999}"#,
            #"{"sub":1,"sid":2,"epoch":"0","iat":0,"exp":9999999999}"#,
            #"{"sub":"00000000-0000-4000-8000-000000000000","sid":"00000000-0000-4000-8000-000000000000","epoch":0,"iat":0}"#,
        ]
    )
    func otherPayload(_ payload: String) async throws {
        let token = forged(header: #"{"alg":"HS256","typ":"JWT"}"#, payload: payload, key: keys.accessTokens)
        let tokens = makeTokens()
        await #expect(throws: AccountError.tokenInvalid) { try await tokens.read(token, at: now) }
    }

    @Test(
        "Refuses any other text, whatever its length",
        arguments: [
            "", ".", "..", "...", "a.b.c", "Bearer", "\0", "ñ.ñ.ñ", "🔑", String(repeating: "a", count: 2_049),
            String(repeating: "a.", count: 500_000), String(repeating: "eyJ", count: 600),
        ]
    )
    func garbage(_ text: String) async throws {
        let tokens = makeTokens()
        await #expect(throws: AccountError.tokenInvalid) { try await tokens.read(text, at: now) }
    }
}
