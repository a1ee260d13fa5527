public import ErrorContract
public import Foundation
import HTTPTypes
public import Hummingbird
import StrictJSON
import Timekeeping

/// Renders a ``ContractError`` as a response: the code, a text in the client's language, headers, and a body.
///
/// Pass the same value to ``ContractRouter``, ``ContractGroup`` and `contractHTTP1`, so that all errors of a server have the same formats.
/// Use the renderer directly only for responses outside of a router.
///
/// Rendering doesn't suspend and doesn't log. ``ContractErrorMiddleware`` logs internal errors.
public struct ContractErrorRenderer: Sendable {
    /// The codes and their texts.
    public var catalogue: ErrorCatalogue
    /// The formats of bodies.
    public var forms: ErrorForms
    /// The rule that chooses the language of texts.
    public var localization: Localization
    /// The address of the documentation of error codes, such as `https://api.example.com/errors`, or `/errors` for a path of this server.
    /// The `type` of problem details is then the address of the code's page, such as `/errors/CODE`. If `pages` is `nil`, or if the
    /// catalogue has no definition of the code, the `type` is a URN.
    public var pages: String?
    private let now: @Sendable () -> Date

    /// Creates a renderer.
    /// - Parameters:
    ///   - catalogue: The codes and their texts.
    ///   - forms: Chooses the format of the body.
    ///   - localization: Chooses the language of texts.
    ///   - pages: The address of the pages of error codes; `nil` if there are none.
    ///   - now: The wall clock, for times in responses.
    public init(
        catalogue: ErrorCatalogue = .standard,
        forms: ErrorForms = ErrorForms(),
        localization: Localization = Localization(),
        pages: String? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.catalogue = catalogue
        self.forms = forms
        self.localization = localization
        self.pages = pages
        self.now = now
    }

    /// Returns the response for an error. The response to HEAD has no body, but has the same headers, including `Content-Length`.
    /// - Parameters:
    ///   - error: The error, with the code, the details and the headers of the response.
    ///   - request: The failed request. Its headers determine the language and the format.
    ///   - requestID: The id of the request in the log.
    public func response(for error: ContractError, to request: Request, requestID: String) -> Response {
        let form = forms.form(for: request, chosen: error.form)
        let (head, body) = responseParts(for: error, in: localization.language(of: request), form: form, requestID: requestID)
        let response = Response(
            status: head.status,
            headers: head.headerFields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body))
        )
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Returns the head and the body of a response.
    ///
    /// The head contains the headers of the error and the headers of the error contract: the code, the request id, the language, `Vary`,
    /// `Cache-Control: no-store`, and the delay if there is one. A 401 without `WWW-Authenticate` gets `Bearer` (RFC 9110 §15.5.2).
    func responseParts(
        for error: ContractError,
        in language: Language,
        form: ErrorForm,
        requestID: String
    ) -> (head: HTTPResponse, body: [UInt8]) {
        let payload = payload(for: error, language: language, requestID: requestID)
        var headers = error.headers
        headers[.contentType] = form.contentType
        headers[.contentLanguage] = language.rawValue
        headers[.cacheControl] = "no-store"
        headers[.vary] = [headers[.vary], "Accept, Accept-Language"].compactMap(\.self).joined(separator: ", ")
        headers[.errorCode] = payload.code.rawValue
        headers[.requestID] = requestID
        // RFC 9110 §15.5.2 requires this field. A route with another authentication scheme sets the field itself.
        if payload.status == 401, headers[.wwwAuthenticate] == nil { headers[.wwwAuthenticate] = "Bearer" }
        headers[.retryAfter] = payload.retryAfterSeconds.map { "\($0)" }
        return (HTTPResponse(status: .init(code: payload.status), headerFields: headers), form.body(of: payload).encoded())
    }

    /// Returns the members of the body in one language.
    private func payload(for error: ContractError, language: Language, requestID: String) -> ErrorPayload {
        let definition = catalogue.closestDefinition(to: error.code)
        let status = definition?.status ?? 500
        var details = error.details
        if error.problems.count > ContractError.maximumProblems { details["truncated"] = true }
        return ErrorPayload(
            code: error.code,
            status: status,
            message: catalogue.text(message(of: error, definition: definition), in: language),
            details: details,
            violations: error.problems.prefix(ContractError.maximumProblems).map { problem in
                FieldViolation(
                    field: problem.path.name,
                    pointer: problem.path.pointer,
                    code: problem.code,
                    message: catalogue.closestDefinition(to: problem.code).map { catalogue.text($0.message, in: language) } ?? ""
                )
            },
            retryAfterSeconds: (error.retryAfter ?? ContractError.usualWait(status)).map { max(0, $0.wholeSecondsRoundedUp) },
            timestamp: now(),
            requestID: requestID,
            title: definition?.summary ?? "",
            type: type(of: error.code, definition: definition)
        )
    }

    /// Returns the value for `type`: the address of the code's page if there are pages, otherwise a URN.
    private func type(of code: ErrorCode, definition: ErrorDefinition?) -> String {
        if let pages, let definition { return "\(pages)/\(definition.code)" }
        return "urn:error:\(code)"
    }

    /// Returns the error's own text if it has one. Otherwise, if the status is 429 and the error has a delay, returns a text with the exact
    /// delay. In all other cases, returns the text of the catalogue.
    private func message(of error: ContractError, definition: ErrorDefinition?) -> LocalizedText {
        if let message = error.message { return message }
        if definition?.status == 429, let wait = error.retryAfter { return ContractText.limited(wait: wait) }
        return definition?.message ?? ContractText.unknownError
    }
}
