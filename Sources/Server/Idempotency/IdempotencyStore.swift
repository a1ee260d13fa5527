import Crypto
public import Foundation
public import HTTPTypes

/// Stores which keys were used, and the responses of their requests.
///
/// A key is free, running under a lease, or finished until it expires. Each member is one atomic step. Dates come from the caller:
/// they must mean something to every process that shares the store, and after a crash.
public protocol IdempotencyStore: Sendable {
    /// Identifies the database whose transactions can finish a key of the store, by the object that the stores of other data share with it.
    /// `nil`, the default, if there is no such database.
    var database: ObjectIdentifier? { get }

    /// Claims a key. Of concurrent callers for a free key, exactly one is told `claimed`.
    ///
    /// A key whose lease has ended is free: its process has died, or has become so slow that it is taken for dead. Its fingerprint
    /// is removed with it. A key that has not expired is never removed: a new key beyond the ``IdempotencyBounds`` is refused.
    /// - Parameters:
    ///   - claim: The claim.
    ///   - lease: How long the key is the claim's if nobody finishes or releases it.
    ///   - now: The time.
    func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) async throws -> ClaimOutcome

    /// Notes that the request was answered.
    /// - Parameters:
    ///   - claim: The claim that has the key.
    ///   - answer: What to answer repetitions with; `nil` if it is not kept.
    ///   - expiry: When the key is free again.
    /// - Returns: `false` if the key is no longer the claim's; then nothing is noted.
    @discardableResult
    func finish(_ claim: IdempotencyClaim, with answer: IdempotentResponse?, until expiry: Date) async throws -> Bool

    /// Frees the key, unless it is no longer the claim's.
    func release(_ claim: IdempotencyClaim) async throws

    /// Removes what has expired, a bounded amount.
    /// - Returns: Whether there may be more.
    func sweep(at now: Date) async throws -> Bool

    /// How many keys are kept.
    func count() async throws -> Int
}

extension IdempotencyStore {
    public var database: ObjectIdentifier? { nil }
}

/// A response that is stored, to be sent again when its request is repeated.
public struct IdempotentResponse: Hashable, Sendable {
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

    /// Creates a response with a JSON body.
    /// - Throws: ``TooLargeToStore`` if the body has more than ``maximumBodySize`` bytes; errors of the encoder.
    public static func json(
        _ value: some Encodable,
        status: Int = 200,
        headers: HTTPFields = [:],
        encoder: JSONEncoder = JSONEncoder()
    ) throws -> IdempotentResponse {
        var headers = headers
        headers[.contentType] = "application/json; charset=utf-8"
        guard let answer = IdempotentResponse(status: status, headers: headers, body: Array(try encoder.encode(value))) else {
            throw TooLargeToStore()
        }
        return answer
    }

    /// A response that is too large to be stored with its key.
    public struct TooLargeToStore: Error {}

    /// Returns the response with an encrypted body (AES-256-GCM), as a store keeps it. Only a request with the key of the claim can be
    /// answered from it: the database and the server's secret do not suffice to read it.
    package func sealed(for claim: IdempotencyClaim) throws -> IdempotentResponse {
        var answer = self
        let box = try AES.GCM.seal(body, using: SymmetricKey(data: claim.seal.rawValue))
        answer.body = Array(box.nonce) + box.ciphertext + box.tag
        return answer
    }

    /// Returns the response with its body in clear.
    /// - Throws: `CryptoKitError` if the body was not encrypted for the key of the claim.
    package func opened(for claim: IdempotencyClaim) throws -> IdempotentResponse {
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

extension HTTPFields {
    /// The fields as a text that a store keeps: JSON.
    package var stored: String {
        let pairs = map { [$0.name.rawName, $0.value] }
        // Strings can always be encoded.
        return (try? JSONEncoder().encode(pairs)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    /// Reads a text that a store has kept.
    package init?(stored text: String) {
        guard let pairs = try? JSONDecoder().decode([[String]].self, from: Data(text.utf8)) else { return nil }
        self.init()
        for pair in pairs where pair.count == 2 {
            if let name = HTTPField.Name(pair[0]) { append(HTTPField(name: name, value: pair[1])) }
        }
    }
}
