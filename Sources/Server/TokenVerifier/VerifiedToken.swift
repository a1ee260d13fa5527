public import Foundation
public import StrictJSON

/// The claims of an access token whose signature, issuer, audience and times were verified.
///
/// Only ``TokenVerifier/verify(_:)`` creates values of this type. The claims describe the account at the time at which the token was
/// issued. The account may have changed since then.
public struct VerifiedToken: Hashable, Sendable {
    /// The account to which the token belongs (`sub`).
    public let accountID: UUID
    /// The session to which the token belongs (`sid`).
    public let sessionID: UUID
    /// The time at which the token was issued (`iat`).
    public let issuedAt: Date
    /// The time at which the token expires (`exp`).
    public let expiresAt: Date
    /// Whether the user has proven access to the mailbox (`email_verified`); `false` if the claim is missing.
    public let isEmailVerified: Bool
    /// All claims, including those without a property of this type.
    public let claims: JSONObject

    init?(_ claims: JSONObject) {
        guard let account = claims.string("sub").flatMap(UUID.init(uuidString:)),
            let session = claims.string("sid").flatMap(UUID.init(uuidString:)),
            case .integer(let issued)? = claims["iat"], case .integer(let expiry)? = claims["exp"]
        else { return nil }
        accountID = account
        sessionID = session
        issuedAt = Date(timeIntervalSince1970: Double(issued))
        expiresAt = Date(timeIntervalSince1970: Double(expiry))
        isEmailVerified = claims["email_verified"]?.boolValue ?? false
        self.claims = claims
    }
}

/// The reason why the verifier refuses an access token.
///
/// Respond with 503 for ``keysUnavailable``, because the token may be valid but the issuer's keys can't be read. Respond with 401 for every
/// other reason.
public enum TokenRefusal: String, Error, Hashable, Sendable {
    /// The text is not an access token in canonical form, or one of its claims is missing.
    case malformed
    /// The header of the token names another algorithm than ES256.
    case algorithm
    /// The issuer has no key with the id that the token names.
    case unknownKey = "unknown_key"
    /// The key that the token names did not create the signature of this token.
    case signature
    /// The token was issued by another issuer.
    case issuer
    /// The token is for another audience.
    case audience
    /// The token has expired.
    case expired
    /// The token's time of issue (`iat`), or the time at which it becomes valid (`nbf`, RFC 7519 §4.1.5), is later than the present time,
    /// by more than ``TokenVerifier/Rules/clockSkew``.
    case notYetValid = "not_yet_valid"
    /// The verifier has no keys that are young enough, because it could not fetch the issuer's keys.
    case keysUnavailable = "keys_unavailable"
}
