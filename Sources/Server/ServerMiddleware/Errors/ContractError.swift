public import ErrorContract
import Foundation
public import HTTPTypes
public import Hummingbird
public import StrictJSON

/// What a route or a middleware throws to answer with an error of the contract.
///
/// It holds facts, not texts of one language: ``ContractErrorMiddleware`` puts it into words and into the answer's form.
public struct ContractError: Error, Sendable {
    /// A problem with one place of the input.
    public struct Problem: Hashable, Sendable {
        /// The place.
        public var path: FieldPath
        /// What is wrong there.
        public var code: ErrorCode

        /// Creates a problem.
        public init(path: FieldPath, code: ErrorCode) {
            self.path = path
            self.code = code
        }
    }

    /// The largest number of problems that an answer tells. With more of them its details say `truncated`.
    public static let maximumProblems = 50

    /// The code; its status comes from the catalogue.
    public var code: ErrorCode
    /// A text that says more than the catalogue's.
    public var message: LocalizedText?
    /// Further facts.
    public var details: JSONObject
    /// All problems with the input.
    public var problems: [Problem]
    /// When it makes sense to try again.
    public var retryAfter: Duration?
    /// Further headers, such as `Allow`.
    public var headers: HTTPFields
    /// The form of the answer, if the route has chosen one.
    public var form: ErrorForm?
    /// What was thrown first, for the log: a reader never sees it.
    public var underlying: (any Error)?

    /// Creates an error.
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

    /// An error that tells of every problem with the input at once. Its code is the one that all problems share, else
    /// `VALIDATION_INVALID_INPUT`.
    public static func invalid(_ problems: [Problem]) -> ContractError {
        let codes = Set(problems.map(\.code))
        return ContractError(
            codes.count == 1 ? codes.first ?? .validationInvalidInput : .validationInvalidInput,
            problems: problems
        )
    }
}

extension ContractError {
    /// When to try again, as an answer in the standard catalogue says it.
    package var namedWait: Duration? {
        retryAfter ?? Self.usualWait(ErrorCatalogue.standard.closestDefinition(to: code)?.status ?? 500)
    }

    /// Whether the standard catalogue blames the server, so that the error belongs in the log.
    package var isFault: Bool { ErrorCatalogue.standard.isFault(code) }

    /// A client that is told to come back must be told when: what no cause names is this.
    static func usualWait(_ status: Int) -> Duration? {
        status == 429 || status == 503 ? .seconds(5) : nil
    }
}

extension ErrorCatalogue {
    /// Returns whether a code is an internal error of the server. A code that an app has added is judged by its own status.
    func isFault(_ code: ErrorCode) -> Bool { (closestDefinition(to: code)?.status ?? 500) == 500 }
}

extension ContractError: CustomStringConvertible {
    /// Code and places, for a log: no text, no detail, nothing of what caused it.
    public var description: String {
        problems.isEmpty ? code.rawValue : "\(code) at \(problems.map(\.path.pointer).joined(separator: ", "))"
    }
}

/// An error of an app's own that knows what it is in the contract.
///
/// Thrown by a route it is answered as that; errors that know no better are answered as `SERVER_INTERNAL_ERROR`.
public protocol ContractErrorConvertible: Error {
    /// The error of the contract.
    var contractError: ContractError { get }
}

extension ContractError: HTTPResponseError {
    /// The status of the code in the standard catalogue.
    public var status: HTTPResponse.Status {
        .init(code: ErrorCatalogue.standard.closestDefinition(to: code)?.status ?? 500)
    }

    /// The answer where no ``ContractErrorMiddleware`` is around: in the standard form, by the standard catalogue.
    public func response(from request: Request, context: some RequestContext) -> Response {
        ContractErrorRenderer().response(for: self, to: request, requestID: context.requestID)
    }
}

extension ContractError {
    /// The error of the contract for whatever was thrown below. What the framework would have said itself is translated by its
    /// status, its headers are kept, its texts are not; any other surprise is an internal error that tells nothing.
    init(thrown error: any Error, answering request: Request, context: some RequestContext) {
        switch error {
        case let error as ContractError: self = error
        case let error as any ContractErrorConvertible: self = error.contractError
        case let error as HTTPError: self.init(error, headers: error.headers)
        case let error as any HTTPResponseError:
            let headers = (try? error.response(from: request, context: context))?.headers ?? [:]
            self.init(error, headers: headers)
            // Middleware of the framework wraps errors in ones of its own, such as the one that adds headers for CORS.
            if let code = headers[.errorCode] { self.code = ErrorCode(code) }
        default: self.init(.serverInternalError)
        }
        underlying = underlying ?? (error is ContractError ? nil : error)
    }

    private init(_ error: any HTTPResponseError, headers: HTTPFields) {
        self.init(
            ErrorCode(forStatus: error.status),
            retryAfter: RetryAfter.delay(in: headers, now: Date()),
            headers: error.status.code < 400 ? [:] : headers
        )
        // They describe a body that is not sent.
        for name in [HTTPField.Name.contentType, .contentLength, .contentEncoding, .transferEncoding, .eTag, .lastModified] {
            self.headers[name] = nil
        }
    }
}

extension ErrorCode {
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
