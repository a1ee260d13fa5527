import Crypto
public import Foundation
public import HTTPTypes

/// A store of used idempotency keys and of the responses to their requests.
///
/// A key has one of three states:
///
/// | state | begins with | ends with |
/// |---|---|---|
/// | free | the expiry of a finished key, the end of a lease, or ``release(_:)`` | ``claim(_:lease:at:)`` |
/// | running | ``claim(_:lease:at:)`` | ``finish(_:with:until:)``, ``release(_:)``, or the end of the lease |
/// | finished | ``finish(_:with:until:)`` | the expiry |
///
/// Each method is atomic, also between processes that share the store. The caller passes the time as a `Date`, because the clocks of
/// different processes, and of a process before and after a crash, must agree on it; monotonic clocks don't.
///
/// ``MemoryIdempotencyStore`` serves one process, and its keys end with the process. `SQLiteIdempotencyStore` and
/// `PostgresIdempotencyStore` keep keys on disk: a key that was claimed or finished before a crash is still claimed or finished after it.
/// Test your own store with `IdempotencyStoreCheck.all` of `AccountStoreTesting`.
public protocol IdempotencyStore: Sendable {
    /// The identity of the object through which this store accesses its database. A store of other data compares it with its own object: if
    /// they are the same, its transaction can also finish a key of this store.
    ///
    /// The default is `nil`: no other store shares the database.
    var database: ObjectIdentifier? { get }

    /// Claims a key. If several callers claim a free key concurrently, exactly one gets ``ClaimOutcome/claimed``.
    ///
    /// When a lease ends, the key becomes free, because the process that claimed it has probably died. Then the next claim takes the key
    /// with any fingerprint. A key that has not expired is never removed to make room: a new key beyond the ``IdempotencyBounds`` is
    /// refused.
    /// - Parameters:
    ///   - claim: The claim of the request.
    ///   - lease: The time after which the key becomes free if it is neither finished nor released.
    ///   - now: The current time. A lease or a finished key that ends exactly at this time has ended.
    /// - Returns: The state of the key, or ``ClaimOutcome/claimed`` if it was free.
    /// - Throws: Errors of the storage. The caller can't know whether the key was claimed.
    func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) async throws -> ClaimOutcome

    /// Changes a running key to finished, and stores the response for repetitions.
    /// - Parameters:
    ///   - claim: The claim that has the key.
    ///   - response: The response, with an encrypted body; `nil` if the request was executed but its response can't be stored.
    ///   - expiry: The time at which the key becomes free.
    /// - Returns: `false` if the claim has lost the key to another claim or to a sweep, or the key is finished. Then the store changes
    ///   nothing.
    /// - Throws: Errors of the storage. The caller can't know whether the key was finished.
    @discardableResult
    func finish(_ claim: IdempotencyClaim, with response: IdempotentResponse?, until expiry: Date) async throws -> Bool

    /// Frees a running key, so that a repetition is executed. The store changes nothing if another claim has the key or the key is
    /// finished.
    /// - Throws: Errors of the storage.
    func release(_ claim: IdempotencyClaim) async throws

    /// Removes expired keys and keys whose lease has ended. One call may remove a limited number of keys, so that it delays claims only
    /// briefly.
    /// - Returns: Whether there may be more keys to remove. Then the caller calls the method again.
    /// - Throws: Errors of the storage.
    func sweep(at now: Date) async throws -> Bool

    /// Returns the number of stored keys, including expired keys that are not yet removed.
    /// - Throws: Errors of the storage.
    func count() async throws -> Int
}

extension IdempotencyStore {
    public var database: ObjectIdentifier? { nil }
}

/// A response that is stored with an idempotency key, and sent again if the request is repeated.
///
/// It has a status, a body of at most 64 KiB, and the header fields that ``isSafe(_:)`` allows. Other fields are dropped when the response
/// is created, so the repeated response lacks `Set-Cookie`, for example.
///
/// ```swift
/// let response = try IdempotentResponse.json(["id": 7], status: 201, headers: [.location: "/orders/7"])
/// ```
public struct IdempotentResponse: Hashable, Sendable {
    /// The maximum size of a body, in bytes: 64 KiB.
    public static let maximumBodySize = 65_536

    /// The HTTP status code.
    public var status: Int
    /// The header fields. The initializer keeps only those that ``isSafe(_:)`` allows.
    public var headers: HTTPFields
    /// The body. In a store, it is encrypted and 28 bytes longer.
    public var body: [UInt8]

    /// Creates a response with the safe fields among `headers`. The result is `nil` if the body has more than ``maximumBodySize`` bytes.
    /// - Parameters:
    ///   - status: The HTTP status code.
    ///   - headers: The header fields; those that ``isSafe(_:)`` doesn't allow are dropped.
    ///   - body: The body.
    public init?(status: Int, headers: HTTPFields, body: [UInt8]) {
        guard body.count <= Self.maximumBodySize else { return nil }
        self.init(status: status, headers: headers, storedBody: body)
    }

    /// The bytes that encryption adds to a body: the nonce and the authentication tag.
    private static let sealSize = 28

    /// Creates a response as a store returns it. Its body may be encrypted, and is then longer than ``maximumBodySize`` by up to 28 bytes.
    /// The result is `nil` if the body is longer still.
    package init?(status: Int, headers: HTTPFields, storedBody: [UInt8]) {
        guard storedBody.count <= Self.maximumBodySize + Self.sealSize else { return nil }
        self.status = status
        self.headers = HTTPFields(headers.filter { Self.isSafe($0.name) })
        body = storedBody
    }

    /// Returns a response with a JSON body and its `Content-Type`.
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - status: The HTTP status code.
    ///   - headers: Further header fields; those that ``isSafe(_:)`` doesn't allow are dropped.
    ///   - encoder: The encoder of the body.
    /// - Throws: ``TooLargeToStore`` if the body has more than ``maximumBodySize`` bytes; errors of the encoder.
    public static func json(
        _ value: some Encodable,
        status: Int = 200,
        headers: HTTPFields = [:],
        encoder: JSONEncoder = JSONEncoder()
    ) throws -> IdempotentResponse {
        var headers = headers
        headers[.contentType] = "application/json; charset=utf-8"
        guard let response = IdempotentResponse(status: status, headers: headers, body: Array(try encoder.encode(value))) else {
            throw TooLargeToStore()
        }
        return response
    }

    /// The error of ``json(_:status:headers:encoder:)`` for a body of more than ``maximumBodySize`` bytes.
    public struct TooLargeToStore: Error {}

    /// Returns the response with an encrypted body (AES-256-GCM with a random nonce), as stores contain it.
    ///
    /// The encryption key depends on the server's secret and on the client's idempotency key, which is not stored. So the database and the
    /// server's secret together don't suffice to read the body.
    /// - Throws: `CryptoKitError`.
    package func sealed(for claim: IdempotencyClaim) throws -> IdempotentResponse {
        var response = self
        let box = try AES.GCM.seal(body, using: SymmetricKey(data: claim.seal.rawValue))
        response.body = Array(box.nonce) + box.ciphertext + box.tag
        return response
    }

    /// Returns the response with its decrypted body.
    /// - Throws: `CryptoKitError` if the body was not encrypted for the key of the claim, or was changed.
    package func opened(for claim: IdempotencyClaim) throws -> IdempotentResponse {
        var response = self
        let box = try AES.GCM.SealedBox(combined: body)
        response.body = Array(try AES.GCM.open(box, using: SymmetricKey(data: claim.seal.rawValue)))
        return response
    }

    /// Returns whether a header field is stored.
    ///
    /// The fields that describe the body (`Content-Type`, `Content-Language`, `Content-Disposition`, `Content-Location`, `ETag`,
    /// `Last-Modified`), the created resource (`Location`) and caching (`Cache-Control`, `Vary`) are stored. Fields that identify a user,
    /// such as `Set-Cookie`, and fields that belong to one response, such as `Date` and `X-Request-Id`, are not.
    public static func isSafe(_ name: HTTPField.Name) -> Bool { safe.contains(name) }

    private static let safe: Set<HTTPField.Name> = [
        .contentType, .contentLanguage, .contentDisposition, .contentLocation, .cacheControl, .eTag, .lastModified, .location,
        .vary,
    ]

    /// Returns whether a response with a status is final, so that repetitions get it.
    ///
    /// 408, 429 and 5xx are not final: the request was not executed, or the server can't know. Their keys are released, and a repetition is
    /// executed.
    public static func isFinal(_ status: Int) -> Bool { status < 500 && status != 408 && status != 429 }
}

extension HTTPFields {
    /// The fields as JSON text for a database: an array of pairs of name and value, in order and with duplicates.
    package var stored: String {
        let pairs = map { [$0.name.rawName, $0.value] }
        // Strings can always be encoded.
        return (try? JSONEncoder().encode(pairs)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    /// Parses the text of `stored`. The result is `nil` if the text is not such JSON; pairs with an invalid name are dropped.
    package init?(stored text: String) {
        guard let pairs = try? JSONDecoder().decode([[String]].self, from: Data(text.utf8)) else { return nil }
        self.init()
        for pair in pairs where pair.count == 2 {
            if let name = HTTPField.Name(pair[0]) { append(HTTPField(name: name, value: pair[1])) }
        }
    }
}
