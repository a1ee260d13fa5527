extension APIError {
    /// What sort of failure it was.
    ///
    /// An open struct, so that a later version can tell more kinds apart without breaking a `switch`.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The name of the kind.
        public let rawValue: String

        /// Creates a kind, such as an app's own.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The request or its answer was lost on the network.
        public static let network = Self(rawValue: "network")
        /// The device has no connection.
        public static let noInternet = Self(rawValue: "noInternet")
        /// No answer came in time.
        public static let timeout = Self(rawValue: "timeout")
        /// The caller gave up.
        public static let cancelled = Self(rawValue: "cancelled")
        /// Status 401.
        public static let unauthorized = Self(rawValue: "unauthorized")
        /// Status 403.
        public static let forbidden = Self(rawValue: "forbidden")
        /// Status 400 and other client errors.
        public static let badRequest = Self(rawValue: "badRequest")
        /// Status 404 and 410.
        public static let notFound = Self(rawValue: "notFound")
        /// Status 409.
        public static let conflict = Self(rawValue: "conflict")
        /// The input was refused field by field.
        public static let validation = Self(rawValue: "validation")
        /// Refused by a limit of the server.
        public static let rateLimited = Self(rawValue: "rateLimited")
        /// Refused by the client itself because of a rate limit: a quota of the app, or a 429 that the server sent shortly before. No
        /// request was sent.
        public static let throttled = Self(rawValue: "throttled")
        /// Refused by the client itself because the server is failing: after a 503, failures, or time-outs. No request was sent.
        public static let unavailable = Self(rawValue: "unavailable")
        /// Status 5xx and 408.
        public static let server = Self(rawValue: "server")
        /// The answer did not have the expected shape.
        public static let decoding = Self(rawValue: "decoding")
        /// Sent, answer lost, and not safe to repeat.
        public static let unknownOutcome = Self(rawValue: "unknownOutcome")
        /// HTML where JSON was expected, as from a captive portal or a proxy.
        public static let notAPI = Self(rawValue: "notAPI")
        /// The request could not be built.
        public static let invalidRequest = Self(rawValue: "invalidRequest")
        /// An app's own.
        public static let custom = Self(rawValue: "custom")
    }
}

extension APIError.Kind: CustomStringConvertible {
    public var description: String { rawValue }
}
