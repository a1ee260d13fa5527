import AccountContract
import Crypto
public import Foundation
import JWTKit

/// Issues and reads access tokens: JWT (RFC 7519) signed with HMAC-SHA256.
public struct AccessTokens: Sendable {
    /// The contents of an access token.
    public struct Claims: Hashable, Sendable {
        /// The account that is signed in.
        public let accountID: Account.ID
        /// The session.
        public let sessionID: StoredSession.ID
        /// The account's epoch when the token was issued.
        public let epoch: Int
    }

    private let keys: JWTKeyCollection
    private let previous: JWTKeyCollection?

    /// Creates an issuer.
    /// - Parameters:
    ///   - keys: The keys that tokens are signed with.
    ///   - previous: Keys whose tokens are accepted as well, while a secret is replaced.
    public init(keys: ServerKeys, previous: ServerKeys? = nil) async {
        self.keys = await Self.collection(keys)
        self.previous = if let previous { await Self.collection(previous) } else { nil }
    }

    private static func collection(_ keys: ServerKeys) async -> JWTKeyCollection {
        await JWTKeyCollection().add(hmac: HMACKey(key: keys.accessTokens), digestAlgorithm: .sha256)
    }

    private func verified(_ token: String) async -> Payload? {
        if let payload = try? await keys.verify(token, as: Payload.self) { return payload }
        return try? await previous?.verify(token, as: Payload.self)
    }

    /// Returns a signed token for a session.
    public func issue(for account: Account, session: StoredSession.ID, at now: Date, lifetime: Duration) async throws -> String {
        let payload = Payload(
            sub: account.id.description,
            sid: session.description,
            epoch: account.epoch,
            iat: Int(now.timeIntervalSince1970),
            exp: Int(now.timeIntervalSince1970) + Int(lifetime.components.seconds)
        )
        return try await keys.sign(payload)
    }

    /// Verifies a token and returns its contents.
    /// - Throws: ``AccountError`` with the code `AUTH_TOKEN_EXPIRED` if the token was issued by this server and has expired, otherwise
    ///   `AUTH_TOKEN_INVALID`.
    public func read(_ token: String, at now: Date) async throws -> Claims {
        guard token.utf8.count <= 2_048, token.isCanonicalJWT, let payload = await verified(token),
            let account = UUID(text: payload.sub), let session = UUID(text: payload.sid)
        else { throw AccountError.tokenInvalid }
        guard Double(payload.exp) > now.timeIntervalSince1970 else { throw AccountError.tokenExpired }
        return Claims(
            accountID: Account.ID(rawValue: account),
            sessionID: StoredSession.ID(rawValue: session),
            epoch: payload.epoch
        )
    }
}

extension String {
    /// Whether the text is three parts of canonical base64url, so that each token has exactly one text. Decoders accept other texts for the
    /// same bytes: with padding, with `+` and `/`, or with unused bits set.
    fileprivate var isCanonicalJWT: Bool {
        let parts = split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 3 && parts.allSatisfy { !$0.isEmpty && Base64URL.decoded($0) != nil }
    }
}

private struct Payload: JWTPayload {
    var sub: String
    var sid: String
    var epoch: Int
    var iat: Int
    var exp: Int

    /// Does nothing: ``AccessTokens/read(_:at:)`` compares the time with the injected clock.
    func verify(using algorithm: some JWTAlgorithm) {}
}
