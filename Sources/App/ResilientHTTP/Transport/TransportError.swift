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
