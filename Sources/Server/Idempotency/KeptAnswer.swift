import Crypto
public import HTTPTypes

/// An answer that is kept, to be given again to a repeated request.
public struct KeptAnswer: Hashable, Sendable {
    /// The largest body that is kept, in bytes.
    public static let maximumBodySize = 65_536

    /// The status.
    public var status: Int
    /// The header fields that ``isSafe(_:)`` lets through.
    public var headers: HTTPFields
    /// The body.
    public var body: [UInt8]

    /// Takes an answer.
    /// - Returns: `nil` if its body has more than ``maximumBodySize`` bytes.
    public init?(status: Int, headers: HTTPFields, body: [UInt8]) {
        guard body.count <= Self.maximumBodySize else { return nil }
        self.status = status
        self.headers = HTTPFields(headers.filter { Self.isSafe($0.name) })
        self.body = body
    }

    /// Returns the response with an encrypted body (AES-256-GCM), as a store keeps it. Only a request with the key of the claim can be
    /// answered from it: the database and the server's secret do not suffice to read it.
    package func sealed(for claim: IdempotencyClaim) throws -> KeptAnswer {
        var answer = self
        let box = try AES.GCM.seal(body, using: SymmetricKey(data: claim.seal.rawValue))
        answer.body = Array(box.nonce) + box.ciphertext + box.tag
        return answer
    }

    /// Returns the response with its body in clear.
    /// - Throws: `CryptoKitError` if the body was not encrypted for the key of the claim.
    package func opened(for claim: IdempotencyClaim) throws -> KeptAnswer {
        var answer = self
        let box = try AES.GCM.SealedBox(combined: body)
        answer.body = Array(try AES.GCM.open(box, using: SymmetricKey(data: claim.seal.rawValue)))
        return answer
    }

    /// Whether a field is kept: those that describe the answer's content and lead to what was made. Nothing that identifies
    /// anybody, such as `Set-Cookie`, and nothing that is said anew with each answer.
    public static func isSafe(_ name: HTTPField.Name) -> Bool { safe.contains(name) }

    private static let safe: Set<HTTPField.Name> = [
        .contentType, .contentLanguage, .contentDisposition, .contentLocation, .cacheControl, .eTag, .lastModified, .location,
        .vary,
    ]

    /// Whether an answer with a status is the last word on its request. One that says "not now" is not: its key is free again.
    public static func isFinal(_ status: Int) -> Bool { status < 500 && status != 408 && status != 429 }
}
