/// The parts of a link as it is written (RFC 3986), without decoding. The type doesn't use `URL`. `URL` normalizes some links, but patterns
/// match a link as it is written.
///
/// Characters that are invalid in a URL (spaces, letters beyond ASCII) are percent-encoded first, as `URL(string:)` does.
struct SplitLink {
    /// The scheme in lowercase.
    let scheme: String
    /// The host in lowercase, without user and port; may be empty.
    let host: String
    /// The port as it is written; `nil` if there is none.
    let port: String?
    /// The path, at least `/`.
    let path: String
    /// The query without its question mark.
    let query: String
    /// The fragment without its number sign.
    let fragment: String

    /// Splits a text. Only the scheme can be invalid: any bytes are accepted after the scheme.
    /// - Parameter text: The link.
    /// - Returns: `nil` if the text has no scheme followed by `://`.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        let name = bytes.prefix { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
        guard name.first?.isLetter == true, bytes.dropFirst(name.count).starts(with: "://".utf8) else { return nil }
        scheme = String(decoding: name, as: UTF8.self).lowercased()
        var rest = bytes.dropFirst(name.count + 3)
        let authority = rest.prefix { !"/?#".utf8.contains($0) }
        rest = rest.dropFirst(authority.count)
        (host, port) = Self.hostAndPort(authority)
        let path = rest.prefix { !"?#".utf8.contains($0) }
        let behindPath = rest.dropFirst(path.count).prefix { $0 != UInt8(ascii: "#") }
        rest = rest.dropFirst(path.count + behindPath.count)
        self.path = path.isEmpty ? "/" : Self.encoded(path)
        self.query = Self.encoded(behindPath.dropFirst())
        fragment = Self.encoded(rest.dropFirst())
    }

    /// Splits an authority into host and port. In an IPv6 address in brackets, a colon doesn't begin a port.
    private static func hostAndPort(_ authority: ArraySlice<UInt8>) -> (String, String?) {
        var rest = authority
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[(at + 1)...] }
        var port: String?
        if let colon = rest.lastIndex(of: UInt8(ascii: ":")), !rest[colon...].contains(UInt8(ascii: "]")) {
            port = String(decoding: rest[(colon + 1)...], as: UTF8.self)
            rest = rest[..<colon]
        }
        return (String(decoding: rest, as: UTF8.self).lowercased(), port?.isEmpty == true ? nil : port)
    }

    /// Percent-encodes the bytes that are invalid in a URL. Existing escapes stay unchanged.
    private static func encoded(_ bytes: ArraySlice<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in bytes {
            if byte <= 0x20 || byte >= 0x7F || "\"<>\\^`{|}".utf8.contains(byte) {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

/// Percent-decoding for `percentEncoded: false`.
enum PercentDecoding {
    /// Decodes a text. Invalid escapes stay unchanged. If the decoded bytes are not UTF-8, the whole text stays unchanged.
    static func decoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = bytes[index + 1].hexValue, let low = bytes[index + 2].hexValue
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(validating: result, as: UTF8.self) ?? text
    }
}
