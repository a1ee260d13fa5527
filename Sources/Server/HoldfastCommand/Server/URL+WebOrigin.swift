import Foundation

extension URL {
    /// Scheme, host and port as a browser writes them in `Origin`: the scheme's own port is left out.
    var webOrigin: String? {
        guard let scheme = scheme?.lowercased(), let host = host(percentEncoded: true)?.lowercased() else { return nil }
        let usual = scheme == "https" ? 443 : 80
        return port.map { $0 == usual ? "\(scheme)://\(host)" : "\(scheme)://\(host):\($0)" } ?? "\(scheme)://\(host)"
    }
}
