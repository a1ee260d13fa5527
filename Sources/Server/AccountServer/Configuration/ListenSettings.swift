package import Foundation
package import NIOSSL
import ServerMiddleware

/// The address for operators, which serves `/metrics`, `/health/ready` and `/health/live`.
///
/// If this address is configured, the public address serves neither metrics nor readiness. So a proxy in front of the public address can't
/// expose metrics or readiness by mistake.
package struct OpsAddress: Hashable, Sendable, CustomStringConvertible {
    /// The name or address, without brackets.
    package let host: String
    /// The port; 0 for any free port.
    package let port: Int

    /// The address in the format of the setting, such as `127.0.0.1:9100` or `[::1]:9100`.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Creates an address.
    /// - Parameters:
    ///   - host: The name or address, without brackets.
    ///   - port: The port; 0 for any free port.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `OPS_LISTEN`.
    /// - Parameter hasToken: Whether clients need `METRICS_TOKEN`. If they don't, an address that other machines can reach is refused.
    init?(_ settings: inout SettingReader, hasToken: Bool) {
        guard let text = settings.text("OPS_LISTEN") else { return nil }
        guard let host = RequestHost(text)?.name, let colon = text.lastIndex(of: ":"),
            let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port), host.contains(":") == text.hasPrefix("[")
        else {
            settings.refuse("OPS_LISTEN", "must be an address and a port such as 127.0.0.1:9100 or [::1]:9100 (is “\(text)”)")
            return nil
        }
        guard hasToken || RequestHost.isLoopback(host) else {
            settings.refuse(
                "OPS_LISTEN",
                "must be a loopback address such as 127.0.0.1:9100 unless METRICS_TOKEN is set (is “\(text)”)"
            )
            return nil
        }
        self.init(host: host, port: port)
    }
}

/// The certificate of the server and its key. The server accepts TLS 1.2 and 1.3, and serves HTTP/1.1.
///
/// The files are read once, at the start. After a renewal of the certificate, restart the server.
package struct TLSSettings: Sendable {
    /// The chain, the server's own certificate first.
    package let certificates: [NIOSSLCertificate]
    /// The configuration of the listener.
    package let configuration: TLSConfiguration

    /// Reads the settings; `nil` if they are absent or invalid.
    init?(_ settings: inout SettingReader) {
        let (certificate, key) = (settings.text("TLS_CERT"), settings.text("TLS_KEY"))
        guard certificate != nil || key != nil else { return nil }
        guard let certificate, let key else {
            settings.refuse(certificate == nil ? "TLS_CERT" : "TLS_KEY", "is missing: set the certificate and its key together")
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

    /// The cipher suites of TLS 1.2 that have forward secrecy and authenticated encryption. All cipher suites of TLS 1.3 have both.
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    /// The expiry of the certificate that expires first.
    package var end: Date? {
        certificates.map { Date(timeIntervalSince1970: TimeInterval($0.notValidAfter)) }.min()
    }
}

extension ConnectionLimits {
    /// Reads the settings of connections.
    init(_ settings: inout SettingReader) {
        let idleSeconds = settings.integer("IDLE_TIMEOUT_SECONDS", in: 1...3_600, default: 60)
        self.init(
            capacity: settings.integer("MAX_CONNECTIONS", in: 16...65_536, default: 4_096),
            perClient: settings.integer("MAX_CONNECTIONS_PER_CLIENT", in: 1...65_536, default: 128),
            headTime: .seconds(settings.integer("HEADER_TIMEOUT_SECONDS", in: 1...600, default: 10)),
            idleTime: .seconds(idleSeconds),
            crowdedIdleTime: min(.seconds(15), .seconds(idleSeconds)),
            writeTime: .seconds(settings.integer("WRITE_TIMEOUT_SECONDS", in: 1...600, default: 30))
        )
    }
}
