public import ErrorContract
public import HTTPTypes

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

    /// Creates an error.
    public init(
        _ code: ErrorCode,
        message: LocalizedText? = nil,
        details: JSONObject = [:],
        problems: [Problem] = [],
        retryAfter: Duration? = nil,
        headers: HTTPFields = [:]
    ) {
        self.code = code
        self.message = message
        self.details = details
        self.problems = problems
        self.retryAfter = retryAfter
        self.headers = headers
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
