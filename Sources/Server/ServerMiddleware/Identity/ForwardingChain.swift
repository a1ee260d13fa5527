import HTTPTypes

/// What proxies wrote about a request's way, nearest first.
///
/// Whoever sends a request can begin the chain with anything; only its end, which trusted proxies added, says something. So it is
/// read from the end, and what can't be read there is a hop too, never skipped.
struct ForwardingChain {
    /// How many hops are looked at.
    static let maximumHops = 32

    /// The hops, the one that the peer names first.
    let hops: [ForwardedHop]

    /// `X-Forwarded-For`: addresses with commas, in any number of lines.
    init(xForwardedFor lines: [String]) {
        var hops: [ForwardedHop] = []
        for line in lines.reversed() {
            for item in Array(line.utf8).split(separator: UInt8(ascii: ",")).reversed() {
                let item = item.trimmingBlanks
                // An empty element of a list counts for nothing (RFC 9110 §5.6.1.2).
                guard !item.isEmpty else { continue }
                guard hops.count < Self.maximumHops else { break }
                hops.append(ForwardedHop(node: item))
            }
        }
        self.hops = hops
    }

    /// `Forwarded` (RFC 7239), in any number of lines. A line that breaks the grammar is one hop that can't be read: where a
    /// quote is left open, nobody can tell what the nearest proxy added.
    init(forwarded lines: [String]) {
        var hops: [ForwardedHop] = []
        for line in lines.reversed() where hops.count < Self.maximumHops {
            var reader = ForwardedReader(bytes: Array(line.utf8)[...])
            hops += (reader.hops() ?? [.unreadable]).reversed().prefix(Self.maximumHops - hops.count)
        }
        self.hops = hops
    }
}

/// Reads one line of `Forwarded`: elements with commas, of pairs with semicolons, of which only `for` is looked at.
private struct ForwardedReader {
    var bytes: ArraySlice<UInt8>

    /// The hops in the order in which they stand, or `nil` for what is against the grammar.
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

    private mutating func element() -> ForwardedHop? {
        var hop: ForwardedHop?
        repeat {
            skipBlanks()
            // An element may have empty pairs (RFC 7239 §4).
            guard let next = bytes.first, !";,".utf8.contains(next) else { continue }
            let name = token()
            guard !name.isEmpty, take("="), let value = value() else { return nil }
            if String(decoding: name, as: UTF8.self).lowercased() == "for" {
                // Each parameter may occur once (RFC 7239 §4).
                guard hop == nil else { return nil }
                hop = ForwardedHop(node: value[...])
            }
            skipBlanks()
        } while take(";")
        return hop ?? .unreadable
    }

    private mutating func value() -> [UInt8]? {
        guard bytes.first == UInt8(ascii: "\"") else {
            // Proxies in the field leave out the quotes that brackets and colons ask for.
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

    private mutating func token() -> ArraySlice<UInt8> {
        let token = bytes.prefix(while: Self.isToken)
        bytes = bytes[token.endIndex...]
        return token
    }

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
    fileprivate var trimmingBlanks: ArraySlice<UInt8> {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let first = firstIndex(where: { !isBlank($0) }), let last = lastIndex(where: { !isBlank($0) }) else { return [] }
        return self[first...last]
    }
}
