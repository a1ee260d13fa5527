public import ErrorContract
public import Foundation
import HTTPTypes
public import Hummingbird

/// Puts a ``ContractError`` into an answer: code, text in the reader's language, headers, body.
public struct ContractErrorRenderer: Sendable {
    /// The codes and their texts.
    public var catalogue: ErrorCatalogue
    /// The shape of the body.
    public var form: ErrorForm
    /// How the reader's language is found.
    public var localization: Localization
    private let now: @Sendable () -> Date

    /// Creates a renderer.
    /// - Parameter now: The wall clock.
    public init(
        catalogue: ErrorCatalogue = .standard,
        form: ErrorForm = .standard,
        localization: Localization = Localization(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.catalogue = catalogue
        self.form = form
        self.localization = localization
        self.now = now
    }

    /// The answer for an error.
    /// - Parameters:
    ///   - error: What happened.
    ///   - request: The request that is answered.
    ///   - requestID: The id by which the log knows the request.
    public func response(for error: ContractError, to request: Request, requestID: String) -> Response {
        let language = localization.language(of: request)
        let payload = payload(for: error, language: language, requestID: requestID)
        var headers = error.headers
        headers[.contentType] = "application/json; charset=utf-8"
        headers[.contentLanguage] = language.rawValue
        headers[.cacheControl] = "no-store"
        headers[.errorCode] = payload.code.rawValue
        headers[.requestID] = requestID
        headers[.retryAfter] = payload.retryAfterSeconds.map { "\($0)" }
        return Response(
            status: .init(code: payload.status),
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: form.body(of: payload).encoded()))
        )
    }

    private func payload(for error: ContractError, language: Language, requestID: String) -> ErrorPayload {
        let definition = catalogue.closestDefinition(to: error.code)
        let status = definition?.status ?? 500
        return ErrorPayload(
            code: error.code,
            status: status,
            message: message(of: error, definition: definition).text(in: language),
            details: error.details,
            violations: error.problems.map { problem in
                FieldViolation(
                    field: problem.path.name,
                    pointer: problem.path.pointer,
                    code: problem.code,
                    message: catalogue.closestDefinition(to: problem.code)?.message.text(in: language) ?? ""
                )
            },
            retryAfterSeconds: (error.retryAfter ?? Self.usualWait(status)).map { max(0, $0.wholeSecondsRoundedUp) },
            timestamp: now(),
            requestID: requestID
        )
    }

    /// A client that is told to come back must be told when: what no cause names is this.
    private static func usualWait(_ status: Int) -> Duration? {
        status == 429 || status == 503 ? .seconds(5) : nil
    }

    private func message(of error: ContractError, definition: ErrorDefinition?) -> LocalizedText {
        if let message = error.message { return message }
        if definition?.status == 429, let wait = error.retryAfter { return ContractText.limited(wait: wait) }
        return definition?.message ?? ContractText.unknownError
    }
}
