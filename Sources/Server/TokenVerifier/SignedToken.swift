import AccountContract
package import StrictJSON

/// A JSON Web Token in compact form (RFC 7515) whose signature has not been checked yet.
package struct SignedToken: Sendable {
    /// The size in bytes of the longest accepted token.
    package static let maximumSize = 4_096

    /// The algorithm that the header names.
    package let algorithm: String
    /// The media type that the header names, `at+jwt` for access tokens (RFC 9068).
    package let type: String?
    /// The id of the key that the header names.
    package let keyID: String?
    /// The bytes that the signature protects: header, dot and payload.
    package let signedBytes: ArraySlice<UInt8>
    /// The signature as two integers of 32 bytes (RFC 7518 §3.4).
    package let signature: [UInt8]
    private let payload: ArraySlice<UInt8>

    /// Splits a token and reads its header.
    ///
    /// Decoders often accept several texts for the same bytes: with padding, with `+` and `/`, or with unused bits set. This initializer
    /// accepts exactly one text for a token. It ignores keys and addresses of keys in the header (`jwk`, `jku`, `x5c`, `x5u`). It refuses a
    /// header with critical extensions (`crit`), as RFC 7515 §4.1.11 requires.
    /// - Returns: `nil` if the text is not a token in canonical form.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumSize, let dot = bytes.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = Base64URL.decoded(parts[2]), let header = Self.object(parts[0]),
            header["crit"] == nil, let algorithm = header["alg"]?.stringValue
        else { return nil }
        self.algorithm = algorithm
        type = header["typ"]?.stringValue
        keyID = header["kid"]?.stringValue
        signedBytes = bytes[..<dot]
        payload = parts[1]
        self.signature = signature
    }

    /// Reads the payload. Verify the signature before you call this function.
    /// - Returns: `nil` if the payload is not a JSON object in canonical base64url.
    package func claims() -> JSONObject? { Self.object(payload) }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
        guard let bytes = Base64URL.decoded(part) else { return nil }
        return try? JSONParser(maximumDepth: 8).parse(bytes).objectValue
    }
}
