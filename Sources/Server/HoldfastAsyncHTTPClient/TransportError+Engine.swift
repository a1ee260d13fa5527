import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import ResilientHTTP

extension TransportError {
    /// Converts an error of AsyncHTTPClient.
    ///
    /// | failure | code |
    /// |---|---|
    /// | name lookup, connection, TLS handshake or proxy | `unreachable`, or `noInternet` if there is no network |
    /// | invalid certificate | `untrusted` |
    /// | no response in time | `timeout` |
    /// | connection closed during the exchange | `connectionLost` |
    /// | body above the limit after decompression | `tooLarge` |
    /// | canceled task | `cancelled` |
    /// | invalid address | `invalidRequest` |
    ///
    /// `wasSent` is `false` only if the request was certainly not sent.
    /// - Parameters:
    ///   - error: The error of AsyncHTTPClient. If the error is a `TransportError`, the result is the same error.
    ///   - isReceiving: Whether the head of the response had arrived. In this case, an unknown error means that the connection was lost.
    init(asyncHTTPClient error: any Error, isReceiving: Bool) {
        if let error = error as? TransportError {
            self = error
            return
        }
        let (code, wasSent) = Self.meaning(of: error) ?? (isReceiving ? .connectionLost : .other, true)
        self.init(
            code,
            message: "AsyncHTTPClient error \(type(of: error))",
            wasSent: wasSent || isReceiving,
            cause: error
        )
    }

    /// Returns whether an error means that no connection to the server can be opened.
    static func isAboutConnections(_ error: any Error) -> Bool {
        guard let (code, wasSent) = meaning(of: error), !wasSent else { return false }
        return [.unreachable, .noInternet, .untrusted].contains(code)
    }

    /// Returns the code of an error, and whether the request may have been sent; `nil` for an unknown error. In unclear cases, `wasSent` is
    /// `true`. Otherwise, the client could repeat a request that the server has already processed.
    private static func meaning(of error: any Error) -> (Code, wasSent: Bool)? {
        switch error {
        case let error as HTTPClientError: meaning(of: error)
        case let error as NIOConnectionError: (error.isOffline ? .noInternet : .unreachable, false)
        case let error as ChannelError: meaning(of: error)
        case let error as IOError: error.errnoCode == ECONNREFUSED ? (.unreachable, false) : (.connectionLost, true)
        case let error as NIOSSLError: meaning(of: error)
        case is NIOSSLExtraError: (.untrusted, false)
        case let error as NIOHTTPDecompression.DecompressionError where error == .limit: (.tooLarge, true)
        case is Reception.NoHead: (.connectionLost, true)
        case is CancellationError: (.cancelled, true)
        default: nil
        }
    }

    /// Returns the code for an error of AsyncHTTPClient, and whether the request may have been sent; `nil` for an unknown error. If the
    /// error occurred before the end of the connection's handshakes, the request was not sent.
    private static func meaning(of error: HTTPClientError) -> (Code, wasSent: Bool)? {
        switch error {
        case .cancelled, .requestStreamCancelled: (.cancelled, true)
        case .deadlineExceeded, .readTimeout, .writeTimeout: (.timeout, true)
        case .connectTimeout, .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout: (.unreachable, false)
        case .getConnectionFromPoolTimeout: (.timeout, false)
        case .proxyAuthenticationRequired, .invalidProxyResponse: (.unreachable, false)
        case .traceRequestWithBody, .invalidURL, .emptyHost, .emptyScheme: (.invalidRequest, false)
        case .alreadyShutdown: (.other, false)
        case .remoteConnectionClosed: (.connectionLost, true)
        default: nil
        }
    }

    /// Returns the code for an error of a NIO channel, and whether the request may have been sent.
    private static func meaning(of error: ChannelError) -> (Code, wasSent: Bool)? {
        if case .connectTimeout = error { (.unreachable, false) } else { (.connectionLost, true) }
    }

    /// Returns the code for an error of TLS, and whether the request may have been sent.
    private static func meaning(of error: NIOSSLError) -> (Code, wasSent: Bool)? {
        switch error {
        case .handshakeFailed(let cause):
            // The engine writes the request only after the end of the handshake.
            "\(cause)".contains("CERTIFICATE") ? (.untrusted, false) : (.unreachable, false)
        case .noCertificateToValidate, .unableToValidateCertificate: (.untrusted, false)
        default: (.connectionLost, true)
        }
    }
}

extension NIOConnectionError {
    /// Whether no attempt found a network.
    fileprivate var isOffline: Bool {
        !connectionErrors.isEmpty
            && connectionErrors.allSatisfy { ($0.error as? IOError)?.errnoCode == ENETUNREACH }
    }
}
