public import ErrorContract

/// One method of one path: what goes in, what comes out, and every error.
///
/// The router knows a path with and without a slash at its end; described is the one that clients should call.
public struct APIOperation: Sendable {
    /// The HTTP method.
    public enum Method: String, Sendable {
        /// Reads.
        case get = "GET"
        /// Changes something, or carries a body.
        case post = "POST"
    }

    /// How the operation's errors look.
    public enum ErrorStyle: Hashable, Sendable {
        /// In the form that the server is configured with.
        case configured
        /// In a form of the route's own.
        case form(ErrorForm)
        /// As a page for a person.
        case page
    }

    /// The HTTP method.
    public let method: Method
    /// The path, parameters in braces.
    public let path: String
    /// The name of the operation in the document, and its anchor on the page.
    public let id: String
    /// What it does, as a heading.
    public let summary: String
    /// What it does, with all that a caller should know.
    let about: Prose
    /// Whether an access token is needed.
    var needsSession = false
    var parameters: [APIParameter] = []
    var request: RequestContent?
    let answers: [APIAnswer]
    /// The codes that are this operation's own; those of reading a body, of stores and of limits come from the members below.
    var ownCodes: [ErrorCode] = []
    /// Whether a request may be repeated with its `Idempotency-Key`.
    var isRepeatable = false
    /// Whether a request is refused when the server works on too many.
    var isShed = true
    /// Whether a store is asked, so that it may fail or be busy.
    var asksStore = false
    /// The names of the limits that count the request.
    var limits: [String] = []
    var errorStyle = ErrorStyle.configured

    init(_ method: Method, _ path: String, id: String, _ summary: String, _ about: Prose, answers: [APIAnswer]) {
        self.method = method
        self.path = path
        self.id = id
        self.summary = summary
        self.about = about
        self.answers = answers
    }

    /// The same operation with further members set.
    func with(_ change: (inout APIOperation) -> Void) -> APIOperation {
        var copy = self
        change(&copy)
        return copy
    }

    /// The operation's own parameters, and the one that lets it be repeated.
    var allParameters: [APIParameter] { parameters + (isRepeatable ? [.idempotencyKey] : []) }

    /// Every code that the operation may answer with, in the order of the catalogue.
    public func codes(_ settings: APISettings) -> [ErrorCode] {
        var codes = Set(ownCodes + [.serverInternalError])
        if let request { codes.formUnion(request.codes) }
        if asksStore { codes.formUnion([.serverDatabaseError, .serverServiceUnavailable]) }
        if !limits(in: settings).isEmpty { codes.insert(.rateLimitExceeded) }
        if isRepeatable { codes.formUnion([.requestMalformed, .requestConflict, .requestKeyReused, .serverServiceUnavailable]) }
        // Pages say in words what is wrong, but not that there are too many readers or that they took too long.
        if errorStyle != .page {
            codes.insert(.serverTimeout)
            if isShed { codes.insert(.serverServiceUnavailable) }
        }
        return ErrorCatalogue.standard.definitions.map(\.code).filter(codes.contains)
    }

    /// Every status that the operation may answer with.
    public func statuses(_ settings: APISettings) -> Set<Int> {
        Set(answers.map(\.status)).union(codes(settings).compactMap { ErrorCatalogue.standard[$0]?.status })
    }

    /// The limits in force that count the request.
    func limits(in settings: APISettings) -> [APISettings.Limit] {
        settings.limits.filter { limits.contains($0.name) }
    }

    /// The form of the operation's errors, unless they are pages.
    func errorForm(_ settings: APISettings) -> ErrorForm? {
        switch errorStyle {
        case .configured: settings.errorForm
        case .form(let form): form
        case .page: nil
        }
    }
}
