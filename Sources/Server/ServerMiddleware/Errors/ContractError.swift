public import ErrorContract
import Foundation
public import HTTPTypes
public import Hummingbird
public import StrictJSON

/// An error that a route or middleware throws to choose the error response. All error responses follow the error contract, which defines
/// their codes, texts and formats.
///
/// ```swift
/// guard let note = try await notes.find(id) else { throw ContractError(.resourceNotFound) }
/// throw ContractError(.resourceAlreadyExists, details: ["title": "Groceries"])
/// ```
///
/// The error contains a code and facts, but no text in a particular language. ``ContractErrorMiddleware`` writes the response in the
/// client's language and format. To throw your own error types instead, conform these types to ``ContractErrorConvertible``.
///
/// Clients receive the code, the message, the details and the problems. They never receive ``underlying``.
public struct ContractError: Error, Sendable {
    /// A problem with one value of the input.
    public struct Problem: Hashable, Sendable {
        /// The path of the value.
        public var path: FieldPath
        /// The code of the problem.
        public var code: ErrorCode

        /// Creates a problem.
        /// - Parameters:
        ///   - path: The path of the value.
        ///   - code: The code of the problem. Apps show the text of this code at the field.
        public init(path: FieldPath, code: ErrorCode) {
            self.path = path
            self.code = code
        }
    }

    /// The largest number of problems in a response. If there are more problems, the details of the response contain `truncated`.
    public static let maximumProblems = 50

    /// The code. The `ErrorCatalogue` of the server's ``ContractErrorRenderer`` defines the status and the text of the code.
    public var code: ErrorCode
    /// A text that is more specific than the text of the catalogue; `nil` if the response contains the catalogue's text.
    public var message: LocalizedText?
    /// Further facts, for programs. Clients receive these facts, so they must not contain secrets or personal data of other users.
    public var details: JSONObject
    /// All problems with the input. A response contains at most ``maximumProblems`` of these problems.
    public var problems: [Problem]
    /// The time after which the client can retry. The response contains it as `Retry-After`, rounded up to seconds. If the value is `nil`,
    /// the `Retry-After` of responses with 429 and 503 is five seconds, and other responses have no `Retry-After`.
    public var retryAfter: Duration?
    /// Further headers, such as `Allow`.
    public var headers: HTTPFields
    /// The format of the response; `nil` if the route has not chosen a format.
    public var form: ErrorForm?
    /// The original error, for the log. No response contains it.
    public var underlying: (any Error)?

    /// Creates an error.
    /// - Parameters:
    ///   - code: A code of the standard catalogue, or a code that you have added to the renderer's catalogue.
    ///   - message: A text that is more specific than the text of the catalogue; `nil` uses the catalogue's text.
    ///   - details: Further facts for programs.
    ///   - problems: The problems with the input.
    ///   - retryAfter: The time after which the client can retry.
    ///   - headers: Further headers.
    ///   - underlying: The original error, for the log.
    public init(
        _ code: ErrorCode,
        message: LocalizedText? = nil,
        details: JSONObject = [:],
        problems: [Problem] = [],
        retryAfter: Duration? = nil,
        headers: HTTPFields = [:],
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.details = details
        self.problems = problems
        self.retryAfter = retryAfter
        self.headers = headers
        self.underlying = underlying
    }

    /// Returns an error that reports all problems with the input at once.
    /// - Parameter problems: The problems. A response contains at most ``maximumProblems`` of them.
    /// - Returns: An error with the code that all problems share. If the codes differ, or if there are no problems, the code is
    ///   `VALIDATION_INVALID_INPUT`.
    public static func invalid(_ problems: [Problem]) -> ContractError {
        let codes = Set(problems.map(\.code))
        return ContractError(
            codes.count == 1 ? codes.first ?? .validationInvalidInput : .validationInvalidInput,
            problems: problems
        )
    }
}

extension ContractError {
    /// The delay that the response contains as `Retry-After` if the server uses the standard catalogue.
    package var namedWait: Duration? {
        retryAfter ?? Self.usualWait(ErrorCatalogue.standard.closestDefinition(to: code)?.status ?? 500)
    }

    /// Whether the code is an internal error of the server in the standard catalogue. The server logs such errors.
    package var isFault: Bool { ErrorCatalogue.standard.isFault(code) }

    /// Returns the delay for a response whose error has no delay. It is five seconds for the statuses 429 and 503, because clients must
    /// know when to retry, and `nil` for other statuses.
    static func usualWait(_ status: Int) -> Duration? {
        status == 429 || status == 503 ? .seconds(5) : nil
    }
}

extension ErrorCatalogue {
    /// Returns whether a code is an internal error of the server. The code is internal if the closest definition in the catalogue has the
    /// status 500, or if there is no definition.
    func isFault(_ code: ErrorCode) -> Bool { (closestDefinition(to: code)?.status ?? 500) == 500 }
}

extension ContractError: CustomStringConvertible {
    /// The code and the paths of the problems, for the log. The text contains no message, no details and no underlying error.
    public var description: String {
        problems.isEmpty ? code.rawValue : "\(code) at \(problems.map(\.path.pointer).joined(separator: ", "))"
    }
}

/// An error of an app that can be converted to a ``ContractError``.
///
/// If a route throws such an error, the client gets the response for its ``contractError``. The error itself is never sent. For an error of
/// any other type, the client gets `SERVER_INTERNAL_ERROR`.
public protocol ContractErrorConvertible: Error {
    /// The corresponding ``ContractError``.
    var contractError: ContractError { get }
}

extension ContractError: HTTPResponseError {
    /// The status of the code in the standard catalogue.
    public var status: HTTPResponse.Status {
        .init(code: ErrorCatalogue.standard.closestDefinition(to: code)?.status ?? 500)
    }

    /// Returns the response that the client gets if no ``ContractErrorMiddleware`` handles the error. It has the standard format and texts.
    public func response(from request: Request, context: some RequestContext) -> Response {
        ContractErrorRenderer().response(for: self, to: request, requestID: context.requestID)
    }
}

extension ContractError {
    /// Converts any thrown error to a ``ContractError``.
    ///
    /// A ``ContractError`` or ``ContractErrorConvertible`` keeps its code. An error of the framework gets the code that corresponds to its
    /// status, and keeps its headers, but not its text. Any other error becomes an internal error without details. ``underlying`` contains
    /// the original error, for the log.
    /// - Parameters:
    ///   - error: The thrown error.
    ///   - request: The request, from which errors of the framework create their headers.
    ///   - context: The context of the request.
    init(thrown error: any Error, respondingTo request: Request, context: some RequestContext) {
        switch error {
        case let error as ContractError: self = error
        case let error as any ContractErrorConvertible: self = error.contractError
        case let error as HTTPError: self.init(error, headers: error.headers)
        case let error as any HTTPResponseError:
            let headers = (try? error.response(from: request, context: context))?.headers ?? [:]
            self.init(error, headers: headers)
            // Some middleware of the framework, such as the CORS middleware, wraps a thrown error in another type. The headers then contain
            // the code.
            if let code = headers[.errorCode] { self.code = ErrorCode(code) }
        default: self.init(.serverInternalError)
        }
        underlying = underlying ?? (error is ContractError ? nil : error)
    }

    /// Converts an error of the framework.
    private init(_ error: any HTTPResponseError, headers: HTTPFields) {
        self.init(
            ErrorCode(forStatus: error.status),
            retryAfter: RetryAfter.delay(in: headers, now: Date()),
            headers: error.status.code < 400 ? [:] : headers
        )
        // These fields describe the framework's own body, which is not sent.
        for name in [HTTPField.Name.contentType, .contentLength, .contentEncoding, .transferEncoding, .eTag, .lastModified] {
            self.headers[name] = nil
        }
    }
}

extension ErrorCode {
    /// Returns the general code of a status. A 4xx status without its own code is `REQUEST_MALFORMED`, and any other status without its own
    /// code is an internal error.
    init(forStatus status: HTTPResponse.Status) {
        self =
            switch status.code {
            case 401: .authTokenInvalid
            case 403: .resourceForbidden
            case 404: .resourceNotFound
            case 405: .requestMethodNotAllowed
            case 408: .requestTimeout
            case 409: .resourceAlreadyExists
            case 410: .resourceDeleted
            case 413: .requestTooLarge
            case 415: .requestUnsupportedMediaType
            case 429: .rateLimitExceeded
            case 503: .serverServiceUnavailable
            case 504: .serverTimeout
            case 400..<500: .requestMalformed
            default: .serverInternalError
            }
    }
}
