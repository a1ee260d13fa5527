import HTTPTypes

/// The hops that proxies recorded for a request, nearest first.
///
/// A client can write any text into the header, and each proxy appends the address from which it received the request. Only the end of the
/// header is reliable, because trusted proxies wrote it. Therefore, the type reads the hops from the end. An unreadable entry counts as a
/// hop.
struct ForwardingChain {
    /// The largest number of hops that are read.
    static let maximumHops = 32

    /// The hops. The first hop is the one that the peer of the connection reported.
    let hops: [ForwardedHop]

    /// Reads `X-Forwarded-For`: comma-separated addresses in any number of lines.
    init(xForwardedFor lines: [String]) {
        var hops: [ForwardedHop] = []
        for line in lines.reversed() {
            for item in Array(line.utf8).split(separator: UInt8(ascii: ",")).reversed() {
                let item = item.trimmingBlanks
                // Skip empty list elements (RFC 9110 §5.6.1.2).
                guard !item.isEmpty else { continue }
                guard hops.count < Self.maximumHops else { break }
                hops.append(ForwardedHop(node: item))
            }
        }
        self.hops = hops
    }

    /// Reads `Forwarded` (RFC 7239), in any number of lines. A line with invalid syntax counts as one unreadable hop. The reason is that
    /// the parser can't always find the part that the nearest proxy added, for example after a quote that is not closed.
    init(forwarded lines: [String]) {
        var hops: [ForwardedHop] = []
        for line in lines.reversed() where hops.count < Self.maximumHops {
            var reader = ForwardedReader(bytes: Array(line.utf8)[...])
            hops += (reader.hops() ?? [.unreadable]).reversed().prefix(Self.maximumHops - hops.count)
        }
        self.hops = hops
    }
}

/// Parses one line of `Forwarded`: comma-separated elements of semicolon-separated pairs. The reader uses only the pair `for` of each
/// element.
private struct ForwardedReader {
    var bytes: ArraySlice<UInt8>

    /// Returns the hops in the order of the line; `nil` if the syntax is invalid.
    mutating func hops() -> [ForwardedHop]? {
        var hops: [ForwardedHop] = []
        repeat {
            skipBlanks()
            guard !bytes.isEmpty, bytes.first != UInt8(ascii: ",") else { continue }
            guard let hop = element() else { return nil }
            hops.append(hop)
        } while take(",")
        return bytes.isEmpty ? hops : nil
    }

    /// Parses one element. An element without `for` is an unreadable hop.
    private mutating func element() -> ForwardedHop? {
        var hop: ForwardedHop?
        repeat {
            skipBlanks()
            // An element may have empty pairs (RFC 7239 §4).
            guard let next = bytes.first, !";,".utf8.contains(next) else { continue }
            let name = token()
            guard !name.isEmpty, take("="), let value = value() else { return nil }
            if String(decoding: name, as: UTF8.self).lowercased() == "for" {
                // Each parameter may occur at most once (RFC 7239 §4).
                guard hop == nil else { return nil }
                hop = ForwardedHop(node: value[...])
            }
            skipBlanks()
        } while take(";")
        return hop ?? .unreadable
    }

    /// Parses a token or a quoted string.
    private mutating func value() -> [UInt8]? {
        guard bytes.first == UInt8(ascii: "\"") else {
            // Brackets and colons require quotes, but real proxies omit these quotes.
            let value = bytes.prefix { Self.isToken($0) || "[]:".utf8.contains($0) }
            bytes = bytes[value.endIndex...]
            return value.isEmpty ? nil : Array(value)
        }
        bytes = bytes.dropFirst()
        var value: [UInt8] = []
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return value
            case UInt8(ascii: "\\"):
                guard let escaped = bytes.popFirst() else { return nil }
                value.append(escaped)
            default: value.append(byte)
            }
        }
        return nil
    }

    /// Parses a token (RFC 9110 §5.6.2).
    private mutating func token() -> ArraySlice<UInt8> {
        let token = bytes.prefix(while: Self.isToken)
        bytes = bytes[token.endIndex...]
        return token
    }

    /// Removes a character if it is the next one, and returns whether it was.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard bytes.first == UInt8(ascii: character) else { return false }
        bytes = bytes.dropFirst()
        return true
    }

    private mutating func skipBlanks() {
        bytes = bytes.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

extension ArraySlice<UInt8> {
    /// The bytes without spaces and tabs at both ends.
    fileprivate var trimmingBlanks: ArraySlice<UInt8> {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else { return [] }
        return self[first...last]
    }
}

/// The node from which a proxy received a request.
enum ForwardedHop: Hashable {
    /// A node with an address.
    case address(IPAddress)
    /// The proxy doesn't know the node (`unknown`), or hides it (`_secret`, RFC 7239 §6.3), or the value is unreadable.
    case unreadable

    /// Parses an address. Brackets, a port (digits, or `_` and a name) and a zone (after `%`) are optional.
    init(node bytes: ArraySlice<UInt8>) {
        self = Self.address(node: bytes).map(ForwardedHop.address) ?? .unreadable
    }

    private static func address(node bytes: ArraySlice<UInt8>) -> IPAddress? {
        // Zone names are short, so a longer text is not an address.
        guard bytes.count <= 128 else { return nil }
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")), isPort(bytes[(end + 1)...]) else { return nil }
            let address = address(zoned: bytes[(bytes.startIndex + 1)..<end])
            // Only addresses with colons may have brackets.
            return bytes[..<end].contains(UInt8(ascii: ":")) ? address : nil
        }
        let colons = bytes.count { $0 == UInt8(ascii: ":") }
        guard colons == 1, let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return address(zoned: bytes) }
        return isPort(bytes[colon...]) ? IPAddress(bytes: bytes[..<colon]) : nil
    }

    private static func address(zoned bytes: ArraySlice<UInt8>) -> IPAddress? {
        guard let percent = bytes.firstIndex(of: UInt8(ascii: "%")) else { return IPAddress(bytes: bytes) }
        // Only IPv6 addresses have zones (RFC 4007 §11). A mapped IPv4 address has no zone.
        guard percent + 1 < bytes.endIndex, let address = IPAddress(bytes: bytes[..<percent]), address.version == .v6 else {
            return nil
        }
        return address
    }

    /// Returns whether the bytes are empty, or a colon and a port.
    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let colon = bytes.first else { return true }
        let port = bytes.dropFirst()
        guard colon == UInt8(ascii: ":"), let first = port.first else { return false }
        if first == UInt8(ascii: "_") { return port.count > 1 && port.allSatisfy(isObfuscated) }
        return port.count <= 5 && port.allSatisfy { (48...57).contains($0) }
    }

    private static func isObfuscated(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "._-".utf8.contains(byte)
        }
    }
}
