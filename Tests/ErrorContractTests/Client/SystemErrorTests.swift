import ErrorContract
import Foundation
import Testing

@Suite struct SystemErrorTests {
    static let urlErrors: [(APIError.Kind, [URLError.Code])] = [
        (.noInternet, [.notConnectedToInternet, .internationalRoamingOff, .callIsActive, .dataNotAllowed]),
        (.timeout, [.timedOut]),
        (.cancelled, [.cancelled]), (.unauthorized, [.userAuthenticationRequired, .userCancelledAuthentication]),
        (
            .network,
            [
                .unknown, .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .networkConnectionLost, .resourceUnavailable,
                .badServerResponse, .httpTooManyRedirects, .redirectToNonExistentLocation, .cannotLoadFromNetwork,
                .backgroundSessionWasDisconnected, .secureConnectionFailed, .serverCertificateHasBadDate,
                .serverCertificateUntrusted, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
                .clientCertificateRejected, .clientCertificateRequired,
            ]
        ),
        (
            .decoding,
            [
                .zeroByteResource, .cannotDecodeRawData, .cannotDecodeContentData, .cannotParseResponse,
                .dataLengthExceedsMaximum,
                .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete,
            ]
        ),
        (
            .invalidRequest,
            [
                .badURL, .unsupportedURL, .requestBodyStreamExhausted, .appTransportSecurityRequiresSecureConnection,
                .backgroundSessionRequiresSharedContainer, .backgroundSessionInUseByAnotherProcess,
            ]
        ),
        (
            .custom,
            [
                .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .cannotCreateFile, .cannotOpenFile,
                .cannotCloseFile,
                .cannotWriteToFile, .cannotRemoveFile, .cannotMoveFile,
            ]
        ),
    ]

    @Test(
        "Maps each of the 48 codes of URLError to its kind, also as a bare number",
        arguments: urlErrors.indices
    )
    func urlError(row: Int) {
        let (kind, codes) = Self.urlErrors[row]
        for code in codes {
            let forms: [any Error] = [
                URLError(code), NSError(domain: NSURLErrorDomain, code: code.rawValue),
                NSError(domain: "kCFErrorDomainCFNetwork", code: code.rawValue),
            ]
            for form in forms {
                let error = APIError(form, context: "sync_data")
                #expect(error.kind == kind, "\(code.rawValue)")
                #expect(error.code == APIError(kind).code && error.recovery == APIError(kind).recovery)
                #expect(error.context == "sync_data" && error.underlying != nil && error.message == nil)
            }
        }
    }

    @Test("The table has every code once")
    func complete() {
        let codes = Self.urlErrors.flatMap { $0.1.map(\.rawValue) }
        #expect(codes.count == 48 && Set(codes).count == 48)
    }

    @Test("Retries a broken connection automatically, but not an untrusted certificate")
    func certificates() {
        #expect(!APIError(URLError(.serverCertificateUntrusted)).isRetryable)
        #expect(!APIError(URLError(.clientCertificateRequired)).isRetryable)
        #expect(APIError(URLError(.secureConnectionFailed)).isRetryable && APIError(URLError(.networkConnectionLost)).isRetryable)
        #expect(APIError(URLError(.serverCertificateUntrusted)).recovery == .retry, "on another network it may be")
    }

    @Test(
        "Maps a POSIX error number to its kind",
        arguments: [
            (POSIXErrorCode.ENETDOWN, APIError.Kind.noInternet), (.ENETUNREACH, .noInternet), (.ETIMEDOUT, .timeout),
            (.ECONNREFUSED, .network), (.ECONNRESET, .network), (.ECONNABORTED, .network), (.EHOSTUNREACH, .network),
            (.EHOSTDOWN, .network), (.ENETRESET, .network), (.EPIPE, .network), (.ENOTCONN, .network), (.ENOENT, .custom),
            (.EACCES, .custom),
        ]
    )
    func posix(code: POSIXErrorCode, kind: APIError.Kind) {
        #expect(APIError(POSIXError(code)).kind == kind)
        #expect(APIError(NSError(domain: NSPOSIXErrorDomain, code: Int(code.rawValue))).kind == kind)
    }

    @Test(
        "Maps a Cocoa error to its kind",
        arguments: [
            (CocoaError.Code.coderReadCorrupt, APIError.Kind.decoding), (.coderValueNotFound, .decoding),
            (.propertyListReadCorrupt, .decoding), (.coderInvalidValue, .invalidRequest),
            (.propertyListWriteInvalid, .invalidRequest),
            (.fileNoSuchFile, .custom), (.fileReadNoPermission, .custom),
        ]
    )
    func cocoa(code: CocoaError.Code, kind: APIError.Kind) {
        #expect(APIError(CocoaError(code)).kind == kind)
    }

    @Test("An error of JSONSerialization about invalid JSON is a decoding error")
    func serialization() {
        #expect { try JSONSerialization.jsonObject(with: Data("{".utf8)) } throws: { APIError($0).kind == .decoding }
    }
}
