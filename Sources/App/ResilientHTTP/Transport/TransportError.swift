public import ErrorContract

/// The error of a request for which no response was received.
///
/// A transport throws this error. The client converts the error to an `APIError`. The property ``wasSent`` decides whether the client may
/// repeat a request that is not idempotent.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// The reason why no response was received.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the code.
        public let rawValue: String

        /// Creates a code, such as for an error of another HTTP engine.
        /// - Parameter rawValue: The name of the code. `APIError` treats an unknown code like ``connectionLost``.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The device has no connection.
        public static let noInternet = Self(rawValue: "noInternet")
        /// The server could not be reached: the name doesn't exist, there is no route, or the connection was refused.
        public static let unreachable = Self(rawValue: "unreachable")
        /// The connection broke.
        public static let connectionLost = Self(rawValue: "connectionLost")
        /// The timeout was reached.
        public static let timeout = Self(rawValue: "timeout")
        /// The caller canceled the request.
        public static let cancelled = Self(rawValue: "cancelled")
        /// The client refused the server's certificate.
        public static let untrusted = Self(rawValue: "untrusted")
        /// The request could not be built, its body could not be read, or the system doesn't allow its address.
        public static let invalidRequest = Self(rawValue: "invalidRequest")
        /// The body of the response is larger than the transport accepts. The client treats it like a success that can't be decoded, and
        /// doesn't repeat the request.
        public static let tooLarge = Self(rawValue: "tooLarge")
        /// Any other reason.
        public static let other = Self(rawValue: "other")
    }

    /// The reason why no response was received.
    public var code: Code
    /// The engine's description, for a log.
    public var message: String
    /// Whether a byte of the request may have reached the server. The value is `false` only if the server certainly received no byte.
    public var wasSent: Bool
    /// The engine's error.
    public var cause: (any Error)?

    /// Creates an error.
    /// - Parameters:
    ///   - code: The reason why no response was received.
    ///   - message: The engine's description, for a log. It must not contain secrets.
    ///   - wasSent: Whether a byte of the request may have reached the server. Pass `true` if this is unknown, because the client repeats
    ///     any request that was not sent.
    ///   - cause: The engine's error.
    public init(_ code: Code, message: String, wasSent: Bool, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.wasSent = wasSent
        self.cause = cause
    }

    /// The code and the engine's description, for a log.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension APIError {
    /// Creates an `APIError` for an error of a transport.
    ///
    /// - Parameters:
    ///   - error: The transport's error.
    ///   - isSafeToRepeat: Whether the request can be sent again without side effects. With `false`, a timeout or a network failure gets
    ///     the kind `unknownOutcome` if the server may have received a byte of the request.
    ///   - context: A name for the operation. The new error contains this name.
    public init(_ error: TransportError, isSafeToRepeat: Bool, context: String? = nil) {
        let kind: Kind =
            switch error.code {
            case .noInternet: .noInternet
            case .timeout: .timeout
            case .cancelled: .cancelled
            case .invalidRequest: .invalidRequest
            case .tooLarge: .decoding
            default: .network
            }
        let isUnknown = error.wasSent && !isSafeToRepeat && (kind == .network || kind == .timeout)
        self.init(isUnknown ? .unknownOutcome : kind, context: context, underlying: error)
        // The server would send the same certificate again. On another network, the certificate may be valid.
        if error.code == .untrusted { retry = .never }
    }

    /// Creates the error of a call from any thrown error.
    init(_ error: any Error, isSafeToRepeat: Bool, context: String?) {
        if let error = error as? TransportError {
            self.init(error, isSafeToRepeat: isSafeToRepeat, context: context)
        } else {
            self.init(error, context: context)
        }
    }

    /// Whether certainly no byte of the request reached a server.
    var surelyNeverLeft: Bool {
        if let transport = underlying as? TransportError { return !transport.wasSent }
        return isHeldLocally
    }

    /// Whether a server responded, or may have received a part of the request. `false` for a canceled call.
    var reachedServer: Bool { !surelyNeverLeft && kind != .cancelled }
}

extension TransportError: APIErrorConvertible {
    /// Converts this error to an `APIError` that describes the failure of the transport, such as a timeout.
    ///
    /// The method assumes that the request can be sent again without side effects. For any other request, use
    /// `APIError(_:isSafeToRepeat:context:)`. That initializer returns the kind `unknownOutcome` if the outcome of the request is unknown.
    /// - Parameter context: A name for the operation. The new error contains this name.
    public func apiError(context: String?) -> APIError {
        APIError(self, isSafeToRepeat: true, context: context)
    }
}
