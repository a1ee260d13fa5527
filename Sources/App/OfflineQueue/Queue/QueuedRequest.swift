public import ErrorContract
public import Foundation
public import HTTPTypes
import ResilientHTTP

/// A request of a queue, as it was when the app asked for it.
public struct QueuedRequest: Hashable, Sendable, Identifiable {
    /// Identifies the request.
    public var id: QueuedRequestID
    /// The account that it belongs to.
    public var owner: QueueOwner
    /// Its lane.
    public var lane: String
    /// The method.
    public var method: HTTPRequest.Method
    /// The path with its query, relative to the base URL.
    public var path: String
    /// Where in the app the call was made.
    public var context: String?
    /// When it was stored, by the device's clock of that time.
    public var created: Date
    /// How many attempts to send it began.
    public var attempts: Int
    /// The state of the request.
    public var status: Status

    /// The state of a request.
    public enum Status: Hashable, Sendable {
        /// It waits for its turn.
        case pending
        /// This process is sending it.
        case sending
        /// It waits because the requests of its account are not sent for now.
        case paused(QueuePause)
        /// It is not sent again unless the app asks for it.
        case deadLetter(DeadLetter)
    }
}

/// Why a request is not sent any more.
public struct DeadLetter: Hashable, Sendable {
    /// The reason.
    public var reason: Reason
    /// When the request became a dead letter, by the device's clock of that time.
    public var date: Date
    /// The refusal of the server, decoded as the error of any other call; `nil` if the request was never sent.
    public var error: APIError?

    /// The reason.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
        /// The server refused the request for good.
        case refused
        /// The server may have performed the request, and can't recognize it any more: sending it again could perform it twice.
        case unknownOutcome = "unknown_outcome"
        /// The request was not sent within its lifetime.
        case expired
        /// The server failed too often while it performed the request.
        case failedRepeatedly = "failed_repeatedly"
    }

    public static func == (left: DeadLetter, right: DeadLetter) -> Bool {
        left.reason == right.reason && left.date == right.date && left.error == right.error
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(date)
    }
}

/// The result of a call through a queue.
public enum QueueResult<Value> {
    /// The server performed the request and sent this value.
    case response(Value)
    /// The request was stored and is sent later.
    case queued(QueuedRequestID)
}

extension QueueResult: Sendable where Value: Sendable {}

/// How much a queue contains.
public struct QueueCounts: Hashable, Sendable {
    /// The requests that are to be sent.
    public var pending: Int
    /// The requests that are not sent any more.
    public var deadLetters: Int
    /// The bytes of both on disk.
    public var bytes: Int
    /// The requests that were delivered since the queue was opened.
    public var delivered: Int
}

/// Encrypts the contents of requests on disk: method, path, idempotency key and body, and the bodies of refusals.
///
/// The account, the lane and the coalescing key are not encrypted.
public protocol QueueCipher: Sendable {
    /// Encrypts bytes.
    /// - Parameters:
    ///   - plaintext: The bytes.
    ///   - binding: What the result belongs to, as authenticated data: ``open(_:binding:)`` must fail for any other value.
    /// - Throws: Any error if there is no key, such as on a locked device.
    func seal(_ plaintext: [UInt8], binding: [UInt8]) throws -> [UInt8]
    /// Decrypts what ``seal(_:binding:)`` returned.
    func open(_ ciphertext: [UInt8], binding: [UInt8]) throws -> [UInt8]
}
