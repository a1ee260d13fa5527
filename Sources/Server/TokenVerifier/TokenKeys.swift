import AccountContract
import JWTKit
import StrictJSON

/// The public keys of an issuer, read from its key set (`/.well-known/jwks.json`, RFC 7517).
///
/// The initializer reads only keys for ES256, and ignores all other keys of the document. ``TokenVerifier`` fetches and replaces key sets
/// itself. Use this type to check a document, for example in a test.
public struct TokenKeys: Sendable {
    /// The largest number of keys that the initializer reads. It ignores further keys.
    static let maximumCount = 64

    private let keys: [String: any JWTAlgorithm]

    /// The ids (`kid`) of the keys.
    public var ids: Set<String> { Set(keys.keys) }

    /// Reads a key set.
    /// - Parameter document: The document as JSON, of at most 64 KiB.
    /// - Throws: ``TokenKeysError`` if the document is not a key set or has no key for ES256.
    public init(document: some Collection<UInt8>) async throws(TokenKeysError) {
        guard document.count <= 65_536, let set = try? JSONParser(maximumDepth: 16).parse(document).objectValue,
            let members = set["keys"]?.arrayValue
        else { throw TokenKeysError() }
        var points: [String: Point] = [:]
        for member in members.prefix(Self.maximumCount) {
            if let key = member.objectValue, let id = key.string("kid"), let point = Point(key) { points[id] = point }
        }
        try await self.init(points)
    }

    /// Creates a key set from points on the curve P-256.
    init(_ points: [String: Point]) async throws(TokenKeysError) {
        var keys: [String: any JWTAlgorithm] = [:]
        for (id, point) in points {
            guard let key = try? ES256PublicKey(parameters: (x: point.x, y: point.y)),
                let algorithm = try? await JWTKeyCollection().add(ecdsa: key).getKey()
            else { continue }
            keys[id] = algorithm
        }
        guard !keys.isEmpty else { throw TokenKeysError() }
        self.keys = keys
    }

    /// Returns whether the set has a key with an id.
    func contains(_ id: String) -> Bool { keys[id] != nil }

    /// Returns whether the signature of a token is valid for the key with an id. The key determines the algorithm. The header of the token
    /// can't change the algorithm.
    package func verify(_ token: SignedToken, with id: String) -> Bool {
        guard let key = keys[id], token.signature.count == 64 else { return false }
        return (try? key.verify(token.signature, signs: token.signedBytes)) ?? false
    }

    /// A public key: a point on the curve P-256 with its coordinates in base64url.
    struct Point {
        let x: String
        let y: String

        /// Reads the point of a key for ES256 signatures. Returns `nil` for every other key.
        init?(_ key: JSONObject) {
            guard key.string("kty") == "EC", key.string("crv") == "P-256", key["alg"] == nil || key.string("alg") == "ES256",
                key["use"] == nil || key.string("use") == "sig", let x = key.string("x"), let y = key.string("y"),
                Base64URL.decoded(x)?.count == 32, Base64URL.decoded(y)?.count == 32
            else { return nil }
            self.x = x
            self.y = y
        }
    }
}

/// The error of a document that is not a key set or has no key for ES256.
public struct TokenKeysError: Error, Hashable, Sendable, CustomStringConvertible {
    public var description: String { "the document is not a JSON Web Key Set with a key for ES256" }

    init() {}
}
