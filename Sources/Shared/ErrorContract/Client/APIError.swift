public import Foundation
public import HTTPTypes
public import StrictJSON
import Timekeeping

/// The error that every failed call throws, for all kinds of failures.
///
/// Show ``presentation(in:now:catalogue:)`` to the user, and log ``description``, which contains no server text, address or secret. Use
/// ``code`` to handle a specific error:
///
/// ```swift
/// do {
///     try await api.post("/orders", order)
/// } catch where error.code == .resourceNotFound {
///     reload()
/// } catch {
///     show(error.presentation(in: .english, now: Date()))
/// }
/// ```
///
/// Three groups of properties classify an error:
///
/// - ``kind`` is the class of the failure. It also exists for failures without a response.
/// - ``code`` identifies the exact error. Its meaning never changes.
/// - ``retry`` and ``recovery`` describe how the client can retry and how the user can resolve the error. The code determines both. If
///   there is no known code, the status or the kind determines them.
///
/// The client makes all its retries before it throws the error. ``attempts`` is the number of requests that it sent. Convert other errors,
/// such as errors of the app, with ``init(_:context:)``.
public struct APIError: Error, Sendable {
    /// The kind of the failure. Switch over it for failures without a server's code, such as a lost connection.
    public var kind: Kind
    /// The server's code, or a code of the client such as `NETWORK_ERROR`. A newer server can send a code that the app doesn't know. So
    /// compare with `==`, and handle all other codes in a default case.
    public var code: ErrorCode
    /// The server's text, in any language, or the own text of an app's error; `nil` if there is no text.
    ///
    /// A presentation shows a server's text only if the text is in the user's language (``isServerText(in:)``) and the library has no text
    /// for ``code``.
    public var message: String?
    /// The HTTP status; `nil` if no response was received.
    public var status: Int?
    /// The headers of the response; empty if no response was received. They may contain secrets, so don't log them.
    public var headers: HTTPFields = [:]
    /// The body of the error response, at most 64 KiB; empty if no response was received. ``details(as:)`` decodes it.
    ///
    /// The body may contain secrets, so don't log it. ``description`` and `localizedDescription` don't contain it.
    public var body: [UInt8] = []
    /// A closure that creates the decoder for ``body``; `nil` for a default `JSONDecoder`.
    package var makeBodyDecoder: (@Sendable () -> JSONDecoder)?
    /// Further details from the server. In most forms of ``ErrorForm``, they are the member `details`. In a problem (RFC 9457), they are
    /// all members that neither the standard nor this library defines. ``details(as:)`` decodes a value of the app from the body. The
    /// details may contain user data, so don't log them.
    public var details: JSONObject
    /// Problems with single fields, in the order of the server; empty if the error concerns no field.
    public var violations: [FieldViolation]
    /// The delay before a retry; `nil` if no delay was specified. A delay that the server sent is in whole seconds, from zero to ten years,
    /// and begins at the time of the response.
    public var retryAfter: Duration?
    /// Whether both the JSON body and the headers of the response contain the delay ``retryAfter``.
    ///
    /// If the flag is `true`, the delay comes from the API itself. A proxy can send `Retry-After` with its own page, but this page is not a
    /// JSON body that contains the delay, too. Check this flag before you apply a long delay to other calls than the failed one. The
    /// decoder compares the two delays in whole seconds, rounded up. The flag is `false` if one of the delays is missing, if they differ,
    /// or if the body is not JSON.
    public var isRetryAfterConfirmed = false
    /// The earliest time of a retry, on the local wall clock; `nil` if no delay was specified. ``retryAfter`` is the same delay as a
    /// duration.
    public var retryAt: Date?
    /// The time of the error by the server's clock, if the body contains it as `timestamp`.
    public var serverTimestamp: Date?
    /// The id of the request in the server's log: at most 128 printable ASCII characters, so it can be logged.
    public var requestID: String?
    /// The operation of the app that failed, such as `user_login`.
    public var context: String?
    /// The number of times that the client sent the request; 0 if it never sent the request.
    public var attempts: Int
    /// The way in which a client may retry. ``isRetryable`` reduces it to a Boolean value.
    public var retry: RetryClass
    /// The action by which the user resolves the error.
    public var recovery: Recovery
    /// The original error, if there was one, such as a `URLError` or a `DecodingError`. It may contain addresses, so don't show it to the
    /// user.
    public var underlying: (any Error)?
    /// The delay that the client imposes on further calls after this error, and the part of the client that imposes the delay; `nil` if the
    /// client doesn't delay further calls.
    public var hold: LocalHold?
    /// Whether the call failed because a refresh of the session failed for a temporary reason, such as a 503 from the refresh endpoint.
    public var isRefreshFailure = false
    /// Whether the response came from another origin, to which a redirect led. Such a response shows nothing about the origin of the
    /// request, so it closes no gate, opens no circuit and changes no limit of the client.
    public var isFromOtherOrigin = false
    /// Whether the request contained credentials of a session: `Authorization`, `Cookie`, or a refresh token in its body. `nil` if this is
    /// unknown.
    ///
    /// A 401 to a request without credentials is never presented as an expired session.
    public var sentCredentials: Bool?
    /// The language of the server's texts, as configured in the client; `nil` if the app did not configure a language. If it is the user's
    /// language, the error ignores `Content-Language`.
    public var serverTextLanguage: Language?
    /// A text that a presentation shows instead of the text for the code or the kind. For example, a screen can set a more specific text.
    public var presentationText: LocalizedText?
    /// The configured language of the client that made the call. `localizedDescription` uses this language. If it is `nil`,
    /// `localizedDescription` uses the language of the device's user.
    public var language: Language?
    /// The codes that the client knows, with the app's own translations; `nil` for ``ErrorCatalogue/standard``.
    public var catalogue: ErrorCatalogue?

    /// Creates an error for a failure without a response. To use the default code, retry class and recovery of a kind, use
    /// ``init(_:context:underlying:)`` instead.
    /// - Parameters:
    ///   - kind: The kind of the failure.
    ///   - code: The code, such as a code of the app.
    ///   - retry: How a client may retry.
    ///   - recovery: The action by which the user resolves the error.
    ///   - context: The operation of the app that failed, such as `user_login`.
    ///   - attempts: The number of times that the request was sent.
    ///   - underlying: The original error.
    public init(
        kind: Kind,
        code: ErrorCode,
        retry: RetryClass = .never,
        recovery: Recovery = .dismiss,
        context: String? = nil,
        attempts: Int = 1,
        underlying: (any Error)? = nil
    ) {
        self.kind = kind
        self.code = code
        self.details = [:]
        self.violations = []
        self.context = context
        self.attempts = attempts
        self.retry = retry
        self.recovery = recovery
        self.underlying = underlying
    }

    /// Creates an error from a decoded response. `APIClient` already does this. Use this initializer if the app has another HTTP client and
    /// decodes responses with ``ErrorDecoder``.
    ///
    /// The status and the code of the response determine the kind, the retry class and the recovery.
    /// - Parameters:
    ///   - decoded: The decoded response.
    ///   - catalogue: The codes that the app knows.
    ///   - context: The operation of the app that failed, such as `user_login`.
    public init(_ decoded: DecodedError, catalogue: ErrorCatalogue = .standard, context: String? = nil) {
        let definition = decoded.code.flatMap { catalogue.closestDefinition(to: $0) }
        // Some forms can't contain field problems. In these forms, only the code shows that the input is invalid.
        let isValidation = !decoded.violations.isEmpty || decoded.code?.rawValue.hasPrefix("VALIDATION_") == true
        // A page of another system, such as a captive portal, doesn't come from the API, regardless of its status.
        let isForeignPage = decoded.family == .notAPI && decoded.code == .notAPIResponse
        let usual = Kind(status: decoded.status, hasViolations: isValidation)
        self.kind = isForeignPage ? .notAPI : usual
        self.code = decoded.code ?? (usual == .server ? .serverError(decoded.status) : usual.localCode)
        self.message = decoded.message
        self.status = decoded.status
        self.details = decoded.details
        self.violations = decoded.violations
        self.retryAfter = decoded.retryAfter
        self.isRetryAfterConfirmed = decoded.isRetryAfterConfirmed
        self.serverTimestamp = decoded.serverTimestamp
        self.requestID = decoded.requestID
        self.context = context
        self.attempts = 1
        self.retry = isForeignPage ? .never : catalogue.retryClass(of: decoded.code, status: decoded.status)
        self.recovery = definition?.recovery ?? Recovery(unknown: decoded.code, kind: kind)
        self.catalogue = catalogue
        if repeatedRequest == .finished { (retry, recovery) = (.never, .checkAgain) }
    }

    /// Whether the client itself refused the call, so that no request was sent. The kind of the error is then ``Kind/throttled`` or
    /// ``Kind/unavailable``.
    ///
    /// Use this property instead of ``hold`` to recognize a call that was never sent. An error can have a hold although the client sent the
    /// call, because the response can make the client delay further calls.
    public var isHeldLocally: Bool { kind == .throttled || kind == .unavailable }

    /// Whether a retry of the same request can succeed without an action of the user. The client has already retried, so use this property
    /// only to decide whether to offer a retry to the user.
    public var isRetryable: Bool {
        switch retry {
        case .never, .afterSignIn: false
        case .onlyAfterNamedDelay: retryAfter != nil
        case .afterRefresh, .afterRefreshOrSignIn, .afterDelay, .withBackoff: true
        }
    }
}

extension APIError: CustomStringConvertible {
    /// A description for a log. It contains no text of the server, no address and no secret.
    public var description: String {
        var parts = ["\(kind) \(code)"]
        if let status { parts.append("status \(status)") }
        if let retryAfter { parts.append("retry after \(retryAfter.wholeSecondsRoundedUp) s") }
        if let requestID { parts.append("request \(requestID)") }
        if let context { parts.append("in \(context)") }
        if attempts > 1 { parts.append("\(attempts) attempts") }
        return parts.joined(separator: ", ")
    }
}

extension APIError.Kind {
    /// Determines the kind of a response from its status.
    /// - Parameters:
    ///   - status: The HTTP status of an error.
    ///   - hasViolations: Whether the server reported problems with fields. It only matters for a status without a specific kind, such as
    ///     400 or 422.
    init(status: Int, hasViolations: Bool) {
        self =
            switch status {
            case 401: .unauthorized
            case 403: .forbidden
            case 404, 410: .notFound
            case 409: .conflict
            case 429: .rateLimited
            case 408, 500...599: .server
            default: hasViolations ? .validation : .badRequest
            }
    }
}

extension Recovery {
    /// Determines the recovery from the kind, for a code that the catalogue doesn't contain.
    init(unknown code: ErrorCode?, kind: APIError.Kind) {
        let text = code?.rawValue ?? ""
        // An error of an API key or a social account doesn't end the session. So the app doesn't ask the user to sign in.
        let isOtherCredential = text.hasPrefix("API_KEY_") || text.hasPrefix("SOCIAL_")
        self =
            switch kind {
            case .unauthorized where isOtherCredential: .openSettings
            case .unauthorized: .signIn
            case .validation: .fixFields
            case .rateLimited, .throttled, .unavailable: .wait
            case .server, .network, .noInternet, .timeout: .retry
            case .unknownOutcome: .checkAgain
            default: .dismiss
            }
    }
}

extension APIError {
    /// Decodes the app's own details from the body of the error response.
    ///
    /// The value can be the whole body or a part of it. The method tries these places in this order: `error.details`, `error`, `detail`,
    /// `details`, `data`, and the whole body. It returns the first value that it can decode as the type. Give the type at least one
    /// property that isn't optional. Otherwise, the method can decode the type from a wrong place. If an `APIClient` made the call, the
    /// method uses its configured `JSONDecoder`, such as one for snake case.
    ///
    /// ```swift
    /// struct Shortage: Decodable { var missingAmount: Int }
    ///
    /// do {
    ///     try await api.post("/orders", order)
    /// } catch {
    ///     if error.code.rawValue == "INSUFFICIENT_FUNDS", let shortage = try? error.details(as: Shortage.self) {
    ///         show("You need \(shortage.missingAmount) more.")
    ///     }
    /// }
    /// ```
    /// - Parameter type: The type of the value.
    /// - Throws: `DecodingError` if the body contains no such value, or if there is no body.
    public func details<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try (makeBodyDecoder?() ?? JSONDecoder()).decode(WrappedDetails<Value>.self, from: Data(body)).value
    }
}

/// A value at one of the places where servers put the details of an error.
private struct WrappedDetails<Value: Decodable>: Decodable {
    let value: Value

    private enum Key: CodingKey { case error, detail, details, data }

    /// Decodes the value from the first place that contains a decodable value.
    /// - Throws: `DecodingError` of the last place if the value can't be decoded from any place.
    init(from decoder: any Decoder) throws {
        if let body = try? decoder.container(keyedBy: Key.self) {
            let error = try? body.nestedContainer(keyedBy: Key.self, forKey: .error)
            let wrapped =
                (try? error?.decode(Value.self, forKey: .details))
                ?? [Key.error, .detail, .details, .data].lazy.compactMap { try? body.decode(Value.self, forKey: $0) }.first
            if let wrapped {
                value = wrapped
                return
            }
        }
        value = try Value(from: decoder)
    }
}

/// Values that could not be decoded or encoded.
extension APIError {
    /// Creates the error for a value of a response that could not be decoded.
    ///
    /// The error's `details` have two members. `path` is the location, such as `items[1].name`; it is absent for the whole value. `problem`
    /// is one of `missing`, `null`, `type` and `corrupted`. Neither member contains values of the response.
    init(decoding error: DecodingError, context: String?) {
        self.init(.decoding, context: context, underlying: error)
        let (problem, path): (String, [any CodingKey]) =
            switch error {
            case .keyNotFound(let key, let place): ("missing", place.codingPath + [key])
            case .valueNotFound(_, let place): ("null", place.codingPath)
            case .typeMismatch(_, let place): ("type", place.codingPath)
            case .dataCorrupted(let place): ("corrupted", place.codingPath)
            @unknown default: ("unknown", [])
            }
        details = Self.place(path)
        details["problem"] = .string(problem)
    }

    /// Creates the error for a value that can't be encoded. The error's `details` contain the location as `path`.
    init(encoding error: EncodingError, context: String?) {
        self.init(.invalidRequest, context: context, underlying: error)
        if case .invalidValue(_, let place) = error { details = Self.place(place.codingPath) }
    }

    /// Returns details that contain a location, such as `items[1].name`. The details are empty if the error concerns the whole value.
    private static func place(_ path: [any CodingKey]) -> JSONObject {
        var name = FieldName()
        for key in path { name.append(key.intValue.map { String($0) } ?? key.stringValue) }
        return path.isEmpty ? [:] : ["path": .string(name.text)]
    }
}

extension APIError: Equatable {
    /// Returns whether the properties of the two errors are equal, with the exceptions below.
    ///
    /// Two underlying errors count as equal if both are absent, or if their domain and code as `NSError` are equal. The method doesn't
    /// compare ``language`` and ``catalogue``, because they describe the client and not the error.
    public static func == (left: APIError, right: APIError) -> Bool {
        left.kind == right.kind && left.code == right.code && left.status == right.status && left.message == right.message
            && left.details == right.details && left.violations == right.violations && left.headers == right.headers
            && left.body == right.body
            && left.retryAfter == right.retryAfter && left.isRetryAfterConfirmed == right.isRetryAfterConfirmed
            && left.retryAt == right.retryAt && left.serverTimestamp == right.serverTimestamp
            && left.requestID == right.requestID && left.context == right.context && left.attempts == right.attempts
            && left.retry == right.retry && left.recovery == right.recovery && left.hold == right.hold
            && left.isRefreshFailure == right.isRefreshFailure && left.isFromOtherOrigin == right.isFromOtherOrigin
            && left.sentCredentials == right.sentCredentials
            && left.serverTextLanguage == right.serverTextLanguage && left.presentationText == right.presentationText
            && hasSameFacts(left.underlying, right.underlying)
    }

    /// Returns whether two underlying errors are both absent, or have the same domain and code.
    private static func hasSameFacts(_ left: (any Error)?, _ right: (any Error)?) -> Bool {
        switch (left, right) {
        case (nil, nil): return true
        case (let left?, let right?):
            let (left, right) = (left as NSError, right as NSError)
            return left.domain == right.domain && left.code == right.code
        default: return false
        }
    }
}

/// The text for code that shows any error, such as `Text(error.localizedDescription)`.
extension APIError: LocalizedError {
    /// The message of the error's presentation, in the language of the client that made the call.
    ///
    /// If no client created the error, the message is in the language of the device's user, which
    /// ``Language/preferred(from:available:fallback:)`` returns. An example is an error that the app created with `APIError(_:context:)`.
    public var errorDescription: String? {
        presentation(in: language ?? .preferred(), now: Date()).message
    }
}
