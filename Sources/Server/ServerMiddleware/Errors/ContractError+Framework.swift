import ErrorContract
import Foundation
public import HTTPTypes
public import Hummingbird

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
