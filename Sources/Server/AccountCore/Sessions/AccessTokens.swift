import AccountContract
import Crypto
public import Foundation
import StrictJSON
import TokenVerifier

/// Issues and reads access tokens: JWT (RFC 9068) signed with ES256 by ``SigningKeys``.
///
/// Other services verify these tokens with the published keys. Earlier versions signed tokens with HS256; these tokens are accepted until
/// the last of them has expired.
public struct AccessTokens: Sendable {
    /// The contents of an access token.
    public struct Claims: Hashable, Sendable {
        /// The signed-in account (`sub`).
        public let accountID: Account.ID
        /// The session of the token (`sid`).
        public let sessionID: StoredSession.ID
        /// The account's epoch when the token was issued (`epoch`).
        public let epoch: Int
    }

    /// The lifetime of the tokens that earlier versions signed. After an upgrade, the server accepts these tokens only for this time.
    static let legacyTime = Duration.seconds(15 * 60)

    private let keys: SigningKeys
    private let audience: String
    private let issuer: @Sendable () -> String
    private let legacyKeys: [SymmetricKey]
    private let verified = VerifiedTokens()

    /// Creates an issuer.
    /// - Parameters:
    ///   - keys: The keys that tokens are signed with.
    ///   - audience: The `aud` of tokens.
    ///   - secrets: The keys that are derived from the server's secret. While a new secret replaces the previous one, pass the keys of both
    ///     secrets. Earlier versions signed tokens with these keys.
    ///   - issuer: Returns the `iss` of new tokens.
    public init(
        keys: SigningKeys,
        audience: String,
        acceptingLegacy secrets: [ServerKeys] = [],
        issuer: @escaping @Sendable () -> String
    ) {
        self.keys = keys
        self.audience = audience
        self.issuer = issuer
        legacyKeys = secrets.map(\.accessTokens)
    }

    /// Returns a new token for a session.
    /// - Parameters:
    ///   - account: The account. The token contains its id, its epoch, and whether its address is verified.
    ///   - session: The session. A server that reads the store refuses the token when this session has ended.
    ///   - now: The time of issue, in seconds; fractions are dropped.
    ///   - lifetime: The time until the token expires, in whole seconds. Services that don't read the store accept the token until then.
    /// - Throws: An error of the store of keys.
    public func issue(for account: Account, session: StoredSession.ID, at now: Date, lifetime: Duration) async throws -> String {
        let loaded = try await keys.current()
        guard let key = loaded.readable.signer(at: now), let signer = loaded.signers[key.id] else {
            throw StoreFailure(isBusy: false, message: "no signing key can be decrypted")
        }
        let issuedAt = Int(now.timeIntervalSince1970)
        let expiry = issuedAt + Int(lifetime.components.seconds)
        let payload: JSONValue = [
            "iss": .string(issuer()), "aud": .string(audience), "sub": .string(account.id.description),
            "sid": .string(session.description), "iat": .integer(Int64(issuedAt)), "exp": .integer(Int64(expiry)),
            "email_verified": .bool(account.isEmailVerified), "epoch": .integer(Int64(account.epoch)),
        ]
        let signed = signer.header + "." + Base64URL.encoded(payload.encoded())
        let token = try signed + "." + Base64URL.encoded(signer.key.signature(for: Data(signed.utf8)).rawRepresentation)
        let claims = Claims(accountID: account.id, sessionID: session, epoch: account.epoch)
        verified.insert(.init(claims: claims, keyID: key.id, expiry: expiry), for: TokenDigest(of: token))
        return token
    }

    /// Verifies a token and returns its contents.
    ///
    /// The method doesn't compare the issuer of the token, because no other installation has the keys.
    /// - Throws: ``AccountError`` with the code `AUTH_TOKEN_EXPIRED` if the token was issued by this server and has expired, otherwise
    ///   `AUTH_TOKEN_INVALID`; an error of the store of keys.
    public func read(_ text: String, at now: Date) async throws -> Claims {
        guard text.utf8.count <= SignedToken.maximumSize else { throw AccountError.tokenInvalid }
        let digest = TokenDigest(of: text)
        let known = verified[digest]
        // If the text is not a token, the method throws without reading the keys.
        let token = known == nil ? SignedToken(text) : nil
        guard known != nil || token != nil else { throw AccountError.tokenInvalid }
        let loaded = try await keys.current()
        guard let entry = known ?? token.flatMap({ verify($0, loaded, at: now) }) else { throw AccountError.tokenInvalid }
        let isLegacy = entry.keyID.isEmpty
        guard isLegacy || loaded.readable.accepts(entry.keyID, at: now) else { throw AccountError.tokenInvalid }
        guard Double(entry.expiry) > now.timeIntervalSince1970 else { throw AccountError.tokenExpired }
        if isLegacy {
            guard loaded.acceptsLegacy(at: now) else { throw AccountError.tokenInvalid }
        } else if known == nil {
            verified.insert(entry, for: digest)
        }
        return entry.claims
    }

    /// Verifies the signature and the audience of a token; returns `nil` if one of them is wrong. For a token of an earlier version, the
    /// method checks the time of issue instead of the audience.
    ///
    /// The method uses only keys of this server. It ignores a key in the header of the token.
    private func verify(_ token: SignedToken, _ loaded: LoadedKeys, at now: Date) -> VerifiedTokens.Entry? {
        switch (token.algorithm, token.keyID) {
        case ("ES256", let id?):
            guard token.type?.lowercased() == "at+jwt", loaded.verification.verify(token, with: id), let claims = token.claims(),
                claims.string("aud") == audience
            else { return nil }
            return VerifiedTokens.Entry(claims, keyID: id)
        case ("HS256", nil):
            let isSigned = legacyKeys.contains {
                HMAC<SHA256>.isValidAuthenticationCode(token.signature, authenticating: token.signedBytes, using: $0)
            }
            guard isSigned, let claims = token.claims(), case .integer(let issuedAt)? = claims["iat"],
                let begin = loaded.stored.begin, Double(issuedAt) < begin.timeIntervalSince1970
            else { return nil }
            return VerifiedTokens.Entry(claims, keyID: "")
        default: return nil
        }
    }
}

extension LoadedKeys {
    /// Returns whether tokens of earlier versions can still be valid. The server created its first key when it was upgraded, so the last of
    /// these tokens expires ``AccessTokens/legacyTime`` later.
    fileprivate func acceptsLegacy(at time: Date) -> Bool {
        stored.begin.map { time.timeIntervalSince($0) < AccessTokens.legacyTime / .seconds(1) } ?? false
    }
}

extension VerifiedTokens.Entry {
    /// Reads the claims of a token; `nil` if one is missing.
    fileprivate init?(_ claims: JSONObject, keyID: String) {
        guard let account = claims.string("sub").flatMap(UUID.init(text:)),
            let session = claims.string("sid").flatMap(UUID.init(text:)),
            case .integer(let epoch)? = claims["epoch"], case .integer(let expiry)? = claims["exp"]
        else { return nil }
        self.init(
            claims: .init(accountID: .init(rawValue: account), sessionID: .init(rawValue: session), epoch: Int(epoch)),
            keyID: keyID,
            expiry: Int(expiry)
        )
    }
}
