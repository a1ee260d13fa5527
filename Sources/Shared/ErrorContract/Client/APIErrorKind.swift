extension APIError {
    /// The kind of a failure.
    ///
    /// It is a struct rather than an enumeration, so that later versions can add kinds without breaking a `switch`. A `switch` over it
    /// needs a `default`, which should treat the error by its ``APIError/recovery``.
    ///
    /// Kinds differ in whether the server has the request. For ``noInternet``, ``throttled``, ``unavailable`` and ``invalidRequest``,
    /// nothing was sent. For ``network``, ``timeout`` and ``unknownOutcome``, and if the caller canceled the call, the server may have
    /// processed the request. For all kinds with a status, the server has responded.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The name of the kind.
        public let rawValue: String

        /// Creates a kind, such as one of an app. Its errors are shown with the text and recovery of ``custom`` unless the app sets others.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The request or its response was lost on the network. The client has retried if the request was safe to repeat.
        public static let network = Self(rawValue: "network")
        /// The device has no connection, and nothing was sent. A call with `waitsForConnectivity` waits instead.
        public static let noInternet = Self(rawValue: "noInternet")
        /// No response was received in time: within an attempt, or within the deadline of the call.
        public static let timeout = Self(rawValue: "timeout")
        /// The caller canceled the call. Show nothing: the user has left the screen.
        public static let cancelled = Self(rawValue: "cancelled")
        /// Status 401. The client has refreshed the session if that could help.
        public static let unauthorized = Self(rawValue: "unauthorized")
        /// Status 403. The server refuses the request, and a repetition gets the same response.
        public static let forbidden = Self(rawValue: "forbidden")
        /// Status 400 and other client errors without problems at fields.
        public static let badRequest = Self(rawValue: "badRequest")
        /// Status 404 and 410.
        public static let notFound = Self(rawValue: "notFound")
        /// Status 409: another change came first, or a request with the same idempotency key. See ``APIError/repeatedRequest``.
        public static let conflict = Self(rawValue: "conflict")
        /// The server refused the input and reported the problems by field. ``APIError/violations`` contains them.
        public static let validation = Self(rawValue: "validation")
        /// A limit of the server refused the request (status 429). ``APIError/retryAfter`` is the delay, if the server sent one.
        public static let rateLimited = Self(rawValue: "rateLimited")
        /// The client itself refused the call because of a rate limit: a quota of the app, or a 429 that the server sent
        /// shortly before. No request was sent.
        public static let throttled = Self(rawValue: "throttled")
        /// The client itself refused the call because the server is failing: after a 503, failures, or timeouts. No request was
        /// sent.
        public static let unavailable = Self(rawValue: "unavailable")
        /// Status 5xx and 408. The client has retried with backoff if the request was safe to repeat.
        public static let server = Self(rawValue: "server")
        /// The response did not have the expected shape, or was too large. The server has processed the request.
        public static let decoding = Self(rawValue: "decoding")
        /// The request was sent, the response was lost, and a retry is not safe. The user must check whether it took effect.
        public static let unknownOutcome = Self(rawValue: "unknownOutcome")
        /// HTML where JSON was expected, as from a captive portal or a proxy. The user may have to sign in to the network.
        public static let notAPI = Self(rawValue: "notAPI")
        /// The request could not be built, because of an invalid address or a value that can't be encoded for example. Nothing was sent.
        public static let invalidRequest = Self(rawValue: "invalidRequest")
        /// A kind of an app, or an error that is not known.
        public static let custom = Self(rawValue: "custom")
    }
}

extension APIError.Kind: CustomStringConvertible {
    public var description: String { rawValue }
}
