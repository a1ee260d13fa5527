import ErrorContract
import HTTPTypes
import Hummingbird

extension ContractError {
    /// The error of the contract for whatever was thrown below. What the framework would have said itself is translated by its
    /// status; any other surprise is an internal error that tells nothing.
    init(thrown error: any Error) {
        switch error {
        case let error as ContractError: self = error
        case let error as HTTPError:
            let wait = error.headers[.retryAfter].flatMap { Int($0) }.map { Duration.seconds($0) }
            self.init(ErrorCode(forStatus: error.status), retryAfter: wait)
        case let error as any HTTPResponseError: self.init(ErrorCode(forStatus: error.status))
        default: self.init(.serverInternalError)
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
