public import ErrorContract
public import HTTPTypes
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
