import Foundation

/// The parts of a client's base URL, parsed once.
struct BaseAddress: Hashable, Sendable {
    let scheme: String
    let authority: String
    /// The path of the base URL, without a trailing slash.
    let prefix: String
    /// Scheme, host, and the port if the URL contains one, such as `https://api.example.org:8443`.
    let origin: String

    /// Parses the base URL of a client.
    /// - Returns: The parts; `nil` if the URL is not an http or https address with a host.
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

    /// The authority in lowercase, without a default port.
    var host: String {
        let (host, port) = (authority.lowercased(), scheme == "https" ? ":443" : ":80")
        return host.hasSuffix(port) ? String(host.dropLast(port.utf8.count)) : host
    }

    /// Returns whether a path can be appended to the base URL: it must begin with a slash, be percent-encoded and have no fragment.
    static func isPath(_ path: String) -> Bool {
        var path = path
        return path.withUTF8 { bytes in
            bytes.first == UInt8(ascii: "/") && bytes.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }
        }
    }
}

extension String {
    /// Returns a path with items appended to its query. All characters except the unreserved ones of RFC 3986 §2.3 are percent-encoded.
    /// Therefore, `+`, `&`, `=` and spaces reach every server unchanged.
    func appending(_ query: [URLQueryItem]) -> String {
        var text = self
        var separator = utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        if utf8.last == UInt8(ascii: "?") || (separator == "&" && utf8.last == UInt8(ascii: "&")) { separator = "" }
        for item in query {
            text += separator
            text.appendEscaped(item.name)
            if let value = item.value {
                text += "="
                text.appendEscaped(value)
            }
            separator = "&"
        }
        return text
    }

    /// Appends a text. Percent-encodes all bytes except letters, digits and `-._~`.
    private mutating func appendEscaped(_ text: String) {
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                self += digits.utf8.count == 1 ? "%0" : "%"
                self += digits
            }
        }
    }
}
