import Foundation

/// The parts of a client's base URL, taken apart once.
struct BaseAddress: Hashable, Sendable {
    let scheme: String
    let authority: String
    /// The base's own path, without a slash at its end.
    let prefix: String
    /// Scheme, host and port.
    let origin: String

    /// - Returns: `nil` if the URL is not an http or https address with a host.
    init?(_ url: URL) {
        guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true),
            let scheme = parts.scheme?.lowercased(), scheme == "https" || scheme == "http",
            let host = parts.percentEncodedHost, !host.isEmpty
        else { return nil }
        let path = parts.percentEncodedPath
        self.scheme = scheme
        authority = parts.port.map { "\(host):\($0)" } ?? host
        prefix = path.hasSuffix("/") ? String(path.dropLast()) : path
        origin = "\(scheme)://\(authority)"
    }

    /// The authority in lowercase, without the port if it is the default of the scheme.
    var host: String {
        let (host, port) = (authority.lowercased(), scheme == "https" ? ":443" : ":80")
        return host.hasSuffix(port) ? String(host.dropLast(port.utf8.count)) : host
    }

    /// Whether a path can stand behind the base: it begins with a slash, is percent-encoded and has no fragment.
    static func isPath(_ path: String) -> Bool {
        var path = path
        return path.withUTF8 { bytes in
            bytes.first == UInt8(ascii: "/") && bytes.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
        }
    }
}
