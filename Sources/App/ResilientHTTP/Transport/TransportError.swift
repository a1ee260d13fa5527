public import ErrorContract

/// No answer came.
public struct TransportError: Error, Sendable, CustomStringConvertible {
    /// Why no answer came.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the code.
        public let rawValue: String

        /// Creates a code, such as an engine's own.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The device has no connection.
        public static let noInternet = Self(rawValue: "noInternet")
        /// The server could not be reached: no such name, no route, connection refused.
        public static let unreachable = Self(rawValue: "unreachable")
        /// The connection broke.
        public static let connectionLost = Self(rawValue: "connectionLost")
        /// The time was up.
        public static let timeout = Self(rawValue: "timeout")
        /// The caller gave up.
        public static let cancelled = Self(rawValue: "cancelled")
        /// The server's certificate was not accepted.
        public static let untrusted = Self(rawValue: "untrusted")
        /// The request could not be built.
        public static let invalidRequest = Self(rawValue: "invalidRequest")
        /// Anything else.
        public static let other = Self(rawValue: "other")
    }

    /// Why no answer came.
    public var code: Code
    /// What the engine said, for a log.
    public var message: String
    /// Whether a byte of the request may have reached the server. `false` only if that is certain.
    public var wasSent: Bool
    /// The engine's error.
    public var cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, message: String, wasSent: Bool, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.wasSent = wasSent
        self.cause = cause
    }

    /// The code and what the engine said, for a log.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension APIError {
    /// The error for a transport's.
    /// - Parameters:
    ///   - error: The transport's error.
    ///   - isSafeToRepeat: Whether the request may be sent again without harm. If not, and a byte of it may have left,
    ///     it is unknown whether it took effect.
    ///   - context: Where in the app it happened.
    public init(_ error: TransportError, isSafeToRepeat: Bool, context: String? = nil) {
        let kind: Kind =
            switch error.code {
            case .noInternet: .noInternet
            case .timeout: .timeout
            case .cancelled: .cancelled
            case .invalidRequest: .invalidRequest
            default: .network
            }
        let isUnknown = error.wasSent && !isSafeToRepeat && (kind == .network || kind == .timeout)
        self.init(isUnknown ? .unknownOutcome : kind, context: context, underlying: error)
        // The same certificate will not be trusted a moment later; on another network it may.
        if error.code == .untrusted { retry = .never }
    }

    /// The error for whatever a call threw.
    init(_ error: any Error, isSafeToRepeat: Bool, context: String?) {
        if let error = error as? TransportError {
            self.init(error, isSafeToRepeat: isSafeToRepeat, context: context)
        } else {
            self.init(error, context: context)
        }
    }

    /// Whether no byte of the request can have reached a server.
    var surelyNeverLeft: Bool {
        if let transport = underlying as? TransportError { return !transport.wasSent }
        return isHeldLocally
    }

    /// Whether a server responded or may have been reached.
    var reachedServer: Bool { !surelyNeverLeft && kind != .cancelled }
}

extension TransportError: APIErrorConvertible {
    /// The error for a request whose effect does not matter: it names the failure of the transport.
    public func apiError(context: String?) -> APIError {
        APIError(self, isSafeToRepeat: true, context: context)
    }
}
