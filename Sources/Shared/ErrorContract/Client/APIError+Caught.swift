import Foundation

extension APIError {
    /// Creates the one typed error for whatever an app caught.
    ///
    /// An `APIError` stays as it is, and gets the context if it has none. ``APIErrorConvertible`` says itself what it is.
    /// Cancellation, `DecodingError`, `EncodingError`, `URLError`, and the errors of the POSIX and Cocoa domains become the kinds
    /// that they stand for; what was caught is kept as ``underlying``. Anything else is ``Kind/custom`` with the code `UNKNOWN`, and
    /// with the text that a `LocalizedError` or `NSError` of the app brings for people.
    /// - Parameters:
    ///   - error: What was caught.
    ///   - context: Where in the app it happened, such as `user_login`.
    public init(_ error: any Error, context: String? = nil) {
        switch error {
        case let error as APIError: self = error
        case let error as any APIErrorConvertible: self = error.apiError(context: context)
        case is CancellationError: self.init(.cancelled, context: context, underlying: error)
        case let error as DecodingError: self.init(decoding: error, context: context)
        case let error as EncodingError: self.init(encoding: error, context: context)
        default: self.init(system: error, context: context)
        }
        if self.context == nil { self.context = context }
    }

    /// Creates an error of a kind, with the code, the retry class and the recovery that the kind has by itself.
    /// - Parameters:
    ///   - kind: What sort of failure it was.
    ///   - context: Where in the app it happened.
    ///   - underlying: The error beneath.
    public init(_ kind: Kind, context: String? = nil, underlying: (any Error)? = nil) {
        self.init(
            kind: kind,
            code: kind.localCode,
            retry: kind.localRetry,
            recovery: Recovery(unknown: nil, kind: kind),
            context: context,
            attempts: kind == .invalidRequest ? 0 : 1,
            underlying: underlying
        )
    }
}

extension APIError.Kind {
    /// The code of a failure for which no server supplied one.
    var localCode: ErrorCode {
        switch self {
        case .network: .networkError
        case .noInternet: .noInternet
        case .timeout: .timeout
        case .cancelled: .cancelled
        case .unauthorized: .unauthorized
        case .forbidden: .forbidden
        case .badRequest: .badRequest
        case .notFound: .notFound
        case .conflict: .conflict
        case .validation: .validationError
        case .rateLimited: .rateLimited
        case .throttled: .throttled
        case .unavailable: .serviceUnavailableLocally
        case .server: .serverError(500)
        case .decoding: .decodingError
        case .unknownOutcome: .unknownOutcome
        case .notAPI: .notAPIResponse
        case .invalidRequest: .invalidRequest
        default: .unknown
        }
    }

    /// What a client may do by itself where no code says more.
    var localRetry: RetryClass {
        switch self {
        case .network, .noInternet, .timeout, .server: .withBackoff
        case .rateLimited, .throttled, .unavailable: .afterDelay
        case .unauthorized: .afterRefreshOrSignIn
        default: .never
        }
    }
}
