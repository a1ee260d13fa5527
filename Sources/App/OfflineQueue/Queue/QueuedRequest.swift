public import ErrorContract
public import Foundation
public import HTTPTypes
import ResilientHTTP

/// A snapshot of a stored request or dead letter, without its body. If the request changes later, the snapshot stays the same.
///
/// ``OfflineQueue/pending(lane:limit:)`` and ``OfflineQueue/deadLetters(limit:)`` return such snapshots.
public struct QueuedRequest: Hashable, Sendable, Identifiable {
    /// The identifier of the request. Use it to edit, cancel, remove or retry the request.
    public var id: QueuedRequestID
    /// The account that the request belongs to.
    public var owner: QueueOwner
    /// The lane. Requests of one lane and one account are sent in order.
    public var lane: String
    /// The method.
    public var method: HTTPRequest.Method
    /// The path with its query, relative to the base URL.
    public var path: String
    /// The part of the app that made the call.
    public var context: String?
    /// The time at which the request was stored or put back, by the device's clock at that time.
    public var created: Date
    /// The number of attempts that began. An attempt doesn't count if none of its bytes left the device.
    public var attempts: Int
    /// The state of the request.
    public var status: Status

    /// The state of a request.
    public enum Status: Hashable, Sendable {
        /// The request waits for earlier requests of its lane, or for the end of a delay.
        case pending
        /// This process is sending the request.
        case sending
        /// The requests of the account are not sent now.
        case paused(QueuePause)
        /// The request is a dead letter. The request is sent again only if the app calls ``OfflineQueue/retry(_:)``.
        case deadLetter(DeadLetter)
    }
}

/// The reason why a request is no longer sent, with the response that refused it.
public struct DeadLetter: Hashable, Sendable {
    /// The reason.
    public var reason: Reason
    /// The time at which the request became a dead letter, by the device's clock at that time.
    public var date: Date
    /// The refusal of the server, in the client's present language. The queue decodes it from the stored response, like the error of any
    /// other call.
    ///
    /// `nil` if the request expired. Without a response, the kind of the error is `unknownOutcome` for ``Reason/unknownOutcome``, and
    /// otherwise `invalidRequest`.
    public var error: APIError?

    /// The reasons why a request becomes a dead letter.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The server refused the request, and would refuse it again, such as with the status 400, 404 or 422.
        case refused
        /// The server may have performed the request, but may no longer have the idempotency key. Sending the request again could perform
        /// it twice. The queue uses this reason if the first attempt with an unknown outcome is older than ``QueueLimits/keyLifetime``, or
        /// if the age of this attempt is unknown because the clock was changed. The queue also uses this reason if the server responds with
        /// 303 and an address of the same server.
        case unknownOutcome = "unknown_outcome"
        /// The request was not sent within its lifetime. The server has not performed it.
        case expired
        /// The server failed ``QueueLimits/failures`` times while it performed the request, or redirected the request so often.
        case failedRepeatedly = "failed_repeatedly"
    }

    /// Returns whether the reason, the time and the error are equal.
    public static func == (left: DeadLetter, right: DeadLetter) -> Bool {
        left.reason == right.reason && left.date == right.date && left.error == right.error
    }

    /// Hashes the reason and the time, but not the error. Equal values still have equal hashes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(date)
    }
}

/// The result of a call through a queue: the response, or the identifier of the stored request.
public enum QueueResult<Value> {
    /// The server performed the request and returned this value.
    case response(Value)
    /// The request is stored and sent later. ``OfflineQueue/events`` reports when the request was delivered or refused.
    case queued(QueuedRequestID)
}

extension QueueResult: Sendable where Value: Sendable {}

/// The number and the size of the stored requests, at one moment.
public struct QueueCounts: Hashable, Sendable {
    /// The number of requests that are to be sent, including paused ones.
    public var pending: Int
    /// The number of dead letters.
    public var deadLetters: Int
    /// The size of pending requests and dead letters on disk, in bytes. The size doesn't include the records of attempts.
    public var bytes: Int
    /// The number of deliveries that this process has read from the file. These are the deliveries by any process since the queue was
    /// opened, and earlier deliveries whose records were then still in the file. Use only differences of this number.
    public var delivered: Int
}

/// Encrypts the contents of requests on disk: method, path, idempotency key, context and body, and the bodies of refusals.
///
/// The account, the lane, the coalescing key and the time of creation are not encrypted, because processes without the encryption key also
/// read them.
///
/// Use authenticated encryption, such as `AES.GCM` of swift-crypto with a key in the Keychain. Pass `binding` as authenticated data. The
/// queue encrypts under the lock of its file. Therefore, the methods must be quick and must not use the queue.
public protocol QueueCipher: Sendable {
    /// Encrypts bytes.
    /// - Parameters:
    ///   - plaintext: The bytes.
    ///   - binding: Authenticated data that binds the result to its request. With any other value, ``open(_:binding:)`` must fail.
    /// - Returns: The ciphertext, including everything that decryption needs, such as a nonce.
    /// - Throws: Any error if there is no key, such as on a locked device. The queue then throws ``QueueError/locked`` and stores nothing.
    func seal(_ plaintext: [UInt8], binding: [UInt8]) throws -> [UInt8]
    /// Decrypts the bytes that ``seal(_:binding:)`` returned.
    /// - Parameters:
    ///   - ciphertext: The result of ``seal(_:binding:)``.
    ///   - binding: The authenticated data with which the bytes were encrypted.
    /// - Returns: The bytes that were encrypted.
    /// - Throws: Any error if there is no key, or if the bytes are not authentic. The queue then keeps the request and tries again later.
    func open(_ ciphertext: [UInt8], binding: [UInt8]) throws -> [UInt8]
}
