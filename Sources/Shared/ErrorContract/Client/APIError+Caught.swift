import Foundation

/// An error that converts itself to an ``APIError``, such as an error of an HTTP library or of the app. Conform the app's own errors to
/// this protocol, so that all screens show errors in the same way:
///
/// ```swift
/// struct CartIsEmpty: APIErrorConvertible {
///     func apiError(context: String?) -> APIError {
///         var error = APIError(.custom, context: context, underlying: self)
///         error.presentationText = LocalizedText(en: "Your cart is empty.", es: "Tu carrito está vacío.")
///         return error
///     }
/// }
/// ```
///
/// ``APIError/init(_:context:)`` converts errors that don't conform to this protocol. Most of them get the kind ``APIError/Kind/custom``.
public protocol APIErrorConvertible: Error {
    /// Returns this error as an ``APIError``.
    ///
    /// - Parameter context: The operation of the app that failed, such as `user_login`; `nil` if it is unknown.
    func apiError(context: String?) -> APIError
}

extension APIError {
    /// Creates an ``APIError`` from any error that an app caught.
    ///
    /// - An `APIError` stays unchanged, but an error without a context gets the given context.
    /// - An ``APIErrorConvertible`` converts itself.
    /// - `CancellationError`, `DecodingError`, `EncodingError`, `URLError`, and errors of the POSIX and Cocoa domains get the matching
    ///   kind.
    /// - Any other error gets the kind ``Kind/custom`` and the code `UNKNOWN`. If it is a `LocalizedError` or an `NSError` with a text for
    ///   users, it keeps this text.
    ///
    /// The original error is stored in ``underlying``.
    ///
    /// - Parameters:
    ///   - error: The error to convert.
    ///   - context: The operation of the app that failed, such as `user_login`.
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

    /// Creates an error of a kind, with the default code, retry class and recovery of this kind. Use this initializer in tests, and for
    /// errors of the app.
    ///
    /// - Parameters:
    ///   - kind: The kind of the failure.
    ///   - context: The operation of the app that failed, such as `user_login`.
    ///   - underlying: The original error.
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
    /// The default code of an error of this kind, for errors without a code from the server.
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

    /// The default retry class of an error of this kind, for errors without a code from the server.
    var localRetry: RetryClass {
        switch self {
        case .network, .noInternet, .timeout, .server: .withBackoff
        case .rateLimited, .throttled, .unavailable: .afterDelay
        case .unauthorized: .afterRefreshOrSignIn
        default: .never
        }
    }
}

/// Errors of the system's error domains. The code compares their numbers, and therefore doesn't need the modules that declare their types.
extension APIError {
    /// Creates the error for an `NSError`. An error of an unknown domain gets the kind ``Kind/custom`` and keeps its own text for users. An
    /// error about a certificate gets the retry class ``RetryClass/never``.
    init(system error: any Error, context: String?) {
        let coded = error as NSError
        let kind: Kind? =
            switch coded.domain {
            case NSURLErrorDomain, "kCFErrorDomainCFNetwork": Self.kind(urlErrorCode: coded.code)
            case NSPOSIXErrorDomain: POSIXErrorCode(rawValue: .init(truncatingIfNeeded: coded.code)).map(Self.kind) ?? .custom
            case NSCocoaErrorDomain: Self.kind(cocoaErrorCode: coded.code)
            default: nil
            }
        self.init(kind ?? .custom, context: context, underlying: error)
        switch kind {
        case nil: message = Self.text(for: error, coded)
        case .network? where Self.isUntrusted(coded):
            // A retry would get the same certificate. On another network, the server may present a valid certificate.
            retry = .never
        default: break
        }
    }

    /// Returns the error's text for users. The result is `nil` if there is no such text, or if the text seems to be internal, such as a
    /// stack trace. The method ignores texts of the system, because they can contain file names and addresses.
    private static func text(for error: any Error, _ coded: NSError) -> String? {
        let text = (error as? any LocalizedError)?.errorDescription ?? coded.userInfo[NSLocalizedDescriptionKey] as? String
        guard let text, !text.isEmpty, !UserFacingText.isInternal(text) else { return nil }
        return text
    }

    /// Returns whether a URL error concerns the server's certificate or a client certificate (-1206 to -1201).
    private static func isUntrusted(_ error: NSError) -> Bool { (-1_206 ... -1_201).contains(error.code) }

    /// Returns the kind for a code of `URLError`.
    private static func kind(urlErrorCode code: Int) -> Kind {
        switch code {
        // cancelled
        case -999: .cancelled
        // notConnectedToInternet, internationalRoamingOff, callIsActive, dataNotAllowed
        case -1_009, -1_018, -1_019, -1_020: .noInternet
        // timedOut
        case -1_001: .timeout
        // userCancelledAuthentication, userAuthenticationRequired
        case -1_012, -1_013: .unauthorized
        // badURL, unsupportedURL, requestBodyStreamExhausted, appTransportSecurityRequiresSecureConnection
        case -1_000, -1_002, -1_021, -1_022: .invalidRequest
        // zeroByteResource, cannotDecodeRawData, cannotDecodeContentData, cannotParseResponse, dataLengthExceedsMaximum
        case -1_014, -1_015, -1_016, -1_017, -1_103: .decoding
        // downloadDecodingFailedMidStream, downloadDecodingFailedToComplete
        case -3_006, -3_007: .decoding
        // fileDoesNotExist, fileIsDirectory, noPermissionsToReadFile, and errors about the files of a download
        case -1_102 ... -1_100, -3_005 ... -3_000: .custom
        // backgroundSessionRequiresSharedContainer, backgroundSessionInUseByAnotherProcess
        case -996, -995: .invalidRequest
        // Errors of DNS, routes, connections, redirects, TLS and certificates, and codes that later systems add.
        default: .network
        }
    }

    /// Returns the kind for a POSIX error. An error that doesn't concern the network has the kind ``Kind/custom``.
    private static func kind(_ code: POSIXErrorCode) -> Kind {
        switch code {
        case .ENETDOWN, .ENETUNREACH: .noInternet
        case .ETIMEDOUT: .timeout
        case .ECANCELED: .cancelled
        case .ECONNREFUSED, .ECONNRESET, .ECONNABORTED, .EHOSTDOWN, .EHOSTUNREACH, .ENETRESET, .ENOTCONN, .EPIPE: .network
        default: .custom
        }
    }

    /// Returns the kind for a code of `CocoaError`, such as for a canceled operation or for a value that can't be read or written.
    private static func kind(cocoaErrorCode code: Int) -> Kind {
        switch code {
        // userCancelled
        case 3_072: .cancelled
        // propertyListReadCorrupt (also used by JSONSerialization) and the next two codes; coderReadCorrupt, coderValueNotFound
        case 3_840...3_842, 4_864, 4_865: .decoding
        // propertyListWriteStream, propertyListWriteInvalid, coderInvalidValue
        case 3_851, 3_852, 4_866: .invalidRequest
        default: .custom
        }
    }
}
