import Foundation
import NIOSSL

/// The certificate that the server shows, and its key.
struct TLSSettings: Sendable {
    let certificates: [NIOSSLCertificate]
    let configuration: TLSConfiguration

    /// Reads the settings; `nil` if there are none, or they can't be used.
    init?(_ settings: inout SettingReader) {
        let (certificate, key) = (settings.text("TLS_CERT"), settings.text("TLS_KEY"))
        guard certificate != nil || key != nil else { return nil }
        guard let certificate, let key else {
            settings.refuse(certificate == nil ? "TLS_CERT" : "TLS_KEY", "is missing: a certificate and its key go together")
            return nil
        }
        guard let chain = try? NIOSSLCertificate.fromPEMFile(certificate), !chain.isEmpty else {
            settings.refuse(
                "TLS_CERT",
                "must be a readable file of certificates in PEM, the server's own first (is “\(certificate)”)"
            )
            return nil
        }
        guard let privateKey = try? NIOSSLPrivateKey(file: key, format: .pem) else {
            settings.refuse("TLS_KEY", "must be a readable file of a key in PEM, without a password (is “\(key)”)")
            return nil
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(privateKey)
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = Self.cipherSuites
        configuration.applicationProtocols = ["http/1.1"]
        guard (try? NIOSSLContext(configuration: configuration)) != nil else {
            settings.refuse("TLS_KEY", "is not the key of the first certificate in TLS_CERT")
            return nil
        }
        certificates = chain
        self.configuration = configuration
    }

    /// The suites of TLS 1.2: forward secrecy and authenticated encryption only. Those of TLS 1.3 have both.
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    /// When the first of the certificates ends.
    var end: Date? {
        certificates.map { Date(timeIntervalSince1970: TimeInterval($0.notValidAfter)) }.min()
    }
}
