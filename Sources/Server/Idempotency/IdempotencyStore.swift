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
/// Each method is atomic, also between processes that share the store. The caller passes the time as a `Date`. All processes that share the
/// store must use the same clock, and its times must be comparable after a restart. `SteadyTime` of `SQLiteStores` and `PostgresTime` of
/// `PostgresStores` are such clocks, and they don't jump when the wall clock is set. A process that uses the wall clock refuses repetitions
/// for longer if the clock is set back.
///
/// ``MemoryIdempotencyStore`` is for one process. Its keys are lost when the process ends. `SQLiteIdempotencyStore` and
/// `PostgresIdempotencyStore` store keys on disk: a key that was claimed or finished before a crash is still claimed or finished after the
/// crash. Test your own store with `IdempotencyStoreCheck.all` of `AccountStoreTesting`.
public protocol IdempotencyStore: Sendable {
    /// The identity of the object with which this store accesses its database, such as a connection pool.
    ///
    /// A store of other data, such as sessions, can use the same object. That store can then change a session and finish the idempotency
    /// key in one transaction. After a crash, either both changes are stored or neither of them.
    ///
    /// The default is `nil`, for a store that shares its database with no other store.
    var database: ObjectIdentifier? { get }

    /// Claims a key. If several callers claim a free key concurrently, exactly one gets ``ClaimOutcome/claimed``.
    ///
    /// When a lease ends, the key becomes free, because the process that claimed the key has probably crashed. The next claim then takes
    /// the key, even if its fingerprint differs. If a new key would exceed the ``IdempotencyBounds``, the store refuses the new key. It
    /// never removes another key early to make room.
    /// - Parameters:
    ///   - claim: The claim of the request.
    ///   - lease: The time after which the key becomes free if the caller has neither finished nor released it.
    ///   - now: The current time. If a lease or a finished key ends exactly at this time, it has ended.
    /// - Returns: The state of the key, or ``ClaimOutcome/claimed`` if it was free.
    /// - Throws: Errors of the storage. The caller can't know whether the key was claimed.
    func claim(_ claim: IdempotencyClaim, lease: Duration, at now: Date) async throws -> ClaimOutcome

    /// Changes a running key to finished, and stores the response for repetitions.
    /// - Parameters:
    ///   - claim: The claim that has the key.
    ///   - response: The response, with an encrypted body; `nil` if the request was executed but its response can't be stored.
    ///   - expiry: The time at which the key becomes free.
    /// - Returns: Whether the key was finished. The result is `false` if another claim has the key, if a sweep has removed the key, or if
    ///   the key is finished already. The store then changes nothing. Exception: a store may return `true` again for a repeated call with
    ///   the same `expiry`.
    /// - Throws: Errors of the storage. The caller can't know whether the key was finished.
    @discardableResult
    func finish(_ claim: IdempotencyClaim, with response: IdempotentResponse?, until expiry: Date) async throws -> Bool

    /// Frees a running key, so that the server executes a repetition of the request. If another claim has the key, or if the key is
    /// finished, the store changes nothing.
    /// - Parameter claim: The claim that has the key.
    /// - Throws: Errors of the storage.
    func release(_ claim: IdempotencyClaim) async throws

    /// Removes expired keys, and keys whose lease has ended. A store may limit the number of keys that one call removes, so that the call
    /// delays claims only for a short time.
    /// - Parameter now: The current time. The store removes keys whose expiry or lease ended at or before this time.
    /// - Returns: Whether there may be more keys to remove. If so, the caller must call the method again.
    /// - Throws: Errors of the storage.
    func sweep(at now: Date) async throws -> Bool

    /// Returns the number of stored keys, including expired keys that are not yet removed.
    /// - Throws: Errors of the storage.
    func count() async throws -> Int
}

extension IdempotencyStore {
    /// `nil`, as for a store that has no database that other stores could use.
    public var database: ObjectIdentifier? { nil }
}

/// A response that a store saves with an idempotency key. The server sends the response again if the client repeats the request.
///
/// A response has a status, a body of at most 64 KiB, and the header fields that ``isSafe(_:)`` allows. The initializers drop other fields,
/// so the repeated response doesn't contain `Set-Cookie`, for example.
///
/// ```swift
/// let response = try IdempotentResponse.json(["id": 7], status: 201, headers: [.location: "/orders/7"])
/// ```
public struct IdempotentResponse: Hashable, Sendable {
    /// The maximum size of a body, in bytes: 64 KiB.
    public static let maximumBodySize = 65_536

    /// The HTTP status code.
    public var status: Int
    /// The header fields. The initializer keeps only fields that ``isSafe(_:)`` allows.
    public var headers: HTTPFields
    /// The body. In a store, the body is encrypted and 28 bytes longer.
    public var body: [UInt8]

    /// Creates a response with the safe fields of `headers`. The result is `nil` if the body has more than ``maximumBodySize`` bytes.
    /// - Parameters:
    ///   - status: The HTTP status code.
    ///   - headers: The header fields. The initializer drops fields that ``isSafe(_:)`` doesn't allow.
    ///   - body: The body, not encrypted.
    public init?(status: Int, headers: HTTPFields, body: [UInt8]) {
        guard body.count <= Self.maximumBodySize else { return nil }
        self.init(status: status, headers: headers, storedBody: body)
    }

    /// The bytes that encryption adds to a body: the nonce and the authentication tag.
    private static let sealSize = 28

    /// Creates a response from the values in a store. The body may be encrypted, so it may have up to 28 bytes more than
    /// ``maximumBodySize``. For a longer body, the result is `nil`.
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
    ///   - headers: Further header fields. The method drops fields that ``isSafe(_:)`` doesn't allow.
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

    /// Returns the response with an encrypted body (AES-256-GCM with a random nonce). Stores contain responses in this form.
    ///
    /// The encryption key depends on the server's secret and on the client's idempotency key, and no store contains either of them. So an
    /// attacker who has the database and the server's secret still needs the idempotency key to read the body.
    /// - Throws: `CryptoKitError`.
    package func sealed(for claim: IdempotencyClaim) throws -> IdempotentResponse {
        var response = self
        let box = try AES.GCM.seal(body, using: SymmetricKey(data: claim.seal.rawValue))
        response.body = Array(box.nonce) + box.ciphertext + box.tag
        return response
    }

    /// Returns the response with its decrypted body.
    /// - Throws: `CryptoKitError` if the body was not encrypted with the key of the claim, or if it was changed.
    package func opened(for claim: IdempotencyClaim) throws -> IdempotentResponse {
        var response = self
        let box = try AES.GCM.SealedBox(combined: body)
        response.body = Array(try AES.GCM.open(box, using: SymmetricKey(data: claim.seal.rawValue)))
        return response
    }

    /// Returns whether a store saves a header field with the response.
    ///
    /// A store saves three groups of fields: fields that describe the body (`Content-Type`, `Content-Language`, `Content-Disposition`,
    /// `Content-Location`, `ETag`, `Last-Modified`), the address of the created resource (`Location`), and fields for caching
    /// (`Cache-Control`, `Vary`). It saves no other fields. For example, it drops fields that identify a user (`Set-Cookie`), and fields
    /// that belong to a single response (`Date`, `X-Request-Id`).
    public static func isSafe(_ name: HTTPField.Name) -> Bool { safe.contains(name) }

    private static let safe: Set<HTTPField.Name> = [
        .contentType, .contentLanguage, .contentDisposition, .contentLocation, .cacheControl, .eTag, .lastModified, .location,
        .vary,
    ]

    /// Returns whether a response with this status is final, so that the server sends it again to repetitions.
    ///
    /// The statuses 408, 429 and 5xx are not final. With these statuses, the server has not executed the request, or it is not certain that
    /// the server has executed the request. The server then releases the key, and executes a repetition.
    public static func isFinal(_ status: Int) -> Bool { status < 500 && status != 408 && status != 429 }
}

extension HTTPFields {
    /// The fields as JSON text for a database: an array of pairs, each with the name and the value of a field. The array keeps the order
    /// and duplicates.
    package var stored: String {
        let pairs = map { [$0.name.rawName, $0.value] }
        // This can't fail, because strings can always be encoded.
        return (try? JSONEncoder().encode(pairs)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    /// Parses the text of `stored`. The initializer drops pairs with an invalid name, and returns `nil` if the text is not an array of
    /// pairs.
    package init?(stored text: String) {
        guard let pairs = try? JSONDecoder().decode([[String]].self, from: Data(text.utf8)) else { return nil }
        self.init()
        for pair in pairs where pair.count == 2 {
            if let name = HTTPField.Name(pair[0]) { append(HTTPField(name: name, value: pair[1])) }
        }
    }
}
