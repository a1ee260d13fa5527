extension APIError {
    /// The kind of a failure.
    ///
    /// It is a struct rather than an enumeration, so that later versions can add kinds without breaking a `switch`. A `switch` over it
    /// needs a `default` case, which handles the error by its ``APIError/recovery``.
    ///
    /// The kind shows whether the server has received the request:
    ///
    /// - ``noInternet``, ``throttled``, ``unavailable``, ``invalidRequest``: the client sent nothing.
    /// - ``network``, ``timeout``, ``unknownOutcome`` and a canceled call: the server may have processed the request.
    /// - All kinds with a status: the server has responded.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The name of the kind.
        public let rawValue: String

        /// Creates a kind, such as an app's own kind. Errors of this kind have the text and the recovery of ``custom`` until the app sets
        /// other values.
        /// - Parameter rawValue: The name of the kind. Two kinds with the same name are equal, so use a prefix for an app's own kinds.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The request or its response was lost on the network. If the request was safe to repeat, the client has already retried.
        public static let network = Self(rawValue: "network")
        /// The device has no connection, and the client sent nothing. A call with the option `waitsForConnectivity` waits for a connection
        /// instead.
        public static let noInternet = Self(rawValue: "noInternet")
        /// No response was received in time. Either the last attempt or the whole call took too long.
        public static let timeout = Self(rawValue: "timeout")
        /// The caller canceled the call. Show nothing, because the user has usually left the screen.
        public static let cancelled = Self(rawValue: "cancelled")
        /// The response has the status 401. If a refresh of the session could help, the client has already tried it.
        public static let unauthorized = Self(rawValue: "unauthorized")
        /// The response has the status 403. The server would refuse the same request again.
        public static let forbidden = Self(rawValue: "forbidden")
        /// The response has the status 400 or another client error (4xx), and reports no problems with fields.
        public static let badRequest = Self(rawValue: "badRequest")
        /// The response has the status 404 or 410.
        public static let notFound = Self(rawValue: "notFound")
        /// The response has the status 409. Either another change conflicts with the request, or the server has already received a request
        /// with the same idempotency key. ``APIError/repeatedRequest`` distinguishes the two cases.
        public static let conflict = Self(rawValue: "conflict")
        /// The server refused the input. ``APIError/violations`` contains the problems by field, if the response reports them.
        public static let validation = Self(rawValue: "validation")
        /// A limit of the server refused the request (status 429). ``APIError/retryAfter`` is the delay, if the server sent one.
        public static let rateLimited = Self(rawValue: "rateLimited")
        /// The client itself refused the call because of a rate limit: a quota of the app, or a 429 that the server sent
        /// shortly before. No request was sent.
        public static let throttled = Self(rawValue: "throttled")
        /// The client itself refused the call because the server is failing. The cause is a 503, or earlier failures or timeouts. No
        /// request was sent.
        public static let unavailable = Self(rawValue: "unavailable")
        /// The response has a status 5xx or the status 408. If the request was safe to repeat, the client has already retried with backoff.
        public static let server = Self(rawValue: "server")
        /// The response did not have the expected shape, or was too large. The server has processed the request.
        public static let decoding = Self(rawValue: "decoding")
        /// The request was sent, the response was lost, and a retry is not safe. The user must check whether the request took effect.
        public static let unknownOutcome = Self(rawValue: "unknownOutcome")
        /// The response is an HTML page instead of JSON, for example from a captive portal or a proxy. The user may have to sign in to the
        /// network.
        public static let notAPI = Self(rawValue: "notAPI")
        /// The client could not build the request and sent nothing. For example, the address is invalid, or a value can't be encoded.
        public static let invalidRequest = Self(rawValue: "invalidRequest")
        /// An error of the app, or an unknown error.
        public static let custom = Self(rawValue: "custom")
    }
}

extension APIError.Kind: CustomStringConvertible {
    /// The name of the kind.
    public var description: String { rawValue }
}
