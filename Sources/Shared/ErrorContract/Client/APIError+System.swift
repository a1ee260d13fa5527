import Foundation

/// Errors of the system's domains, by their numbers: so they are known without the module that declares their type.
extension APIError {
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
            // The same certificate will not be trusted a moment later; on another network it may.
            retry = .never
        default: break
        }
    }

    /// The app's own text for people; the system's are not made for them, and may name files and addresses.
    private static func text(for error: any Error, _ coded: NSError) -> String? {
        let text = (error as? any LocalizedError)?.errorDescription ?? coded.userInfo[NSLocalizedDescriptionKey] as? String
        guard let text, !text.isEmpty, !PersonText.isInternal(text) else { return nil }
        return text
    }

    private static func isUntrusted(_ error: NSError) -> Bool { (-1_206 ... -1_201).contains(error.code) }

    /// The kinds of `URLError.Code`.
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
        // fileDoesNotExist, fileIsDirectory, noPermissionsToReadFile, and what concerns files of a download
        case -1_102 ... -1_100, -3_005 ... -3_000: .custom
        // backgroundSessionRequiresSharedContainer, backgroundSessionInUseByAnotherProcess
        case -996, -995: .invalidRequest
        // Names, routes, connections, redirects, TLS and certificates; and whatever a later system adds.
        default: .network
        }
    }

    private static func kind(_ code: POSIXErrorCode) -> Kind {
        switch code {
        case .ENETDOWN, .ENETUNREACH: .noInternet
        case .ETIMEDOUT: .timeout
        case .ECANCELED: .cancelled
        case .ECONNREFUSED, .ECONNRESET, .ECONNABORTED, .EHOSTDOWN, .EHOSTUNREACH, .ENETRESET, .ENOTCONN, .EPIPE: .network
        default: .custom
        }
    }

    private static func kind(cocoaErrorCode code: Int) -> Kind {
        switch code {
        // userCancelled
        case 3_072: .cancelled
        // propertyListReadCorrupt, which JSONSerialization uses too, and its neighbours; coderReadCorrupt, coderValueNotFound
        case 3_840...3_842, 4_864, 4_865: .decoding
        // propertyListWriteStream, propertyListWriteInvalid, coderInvalidValue
        case 3_851, 3_852, 4_866: .invalidRequest
        default: .custom
        }
    }
}
