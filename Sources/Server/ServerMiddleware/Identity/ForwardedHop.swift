/// What a proxy says of the one that it got a request from.
enum ForwardedHop: Hashable {
    case address(IPAddress)
    /// The proxy doesn't know (`unknown`), hides it (`_secret`, RFC 7239 §6.3), or said what can't be read.
    case unreadable

    /// Reads an address with what may stand around it: brackets, a port (digits, or `_` and a name), a zone behind `%`.
    init(node bytes: ArraySlice<UInt8>) {
        self = Self.address(node: bytes).map(ForwardedHop.address) ?? .unreadable
    }

    private static func address(node bytes: ArraySlice<UInt8>) -> IPAddress? {
        // A name of a zone is short; nothing longer than this is an address.
        guard bytes.count <= 128 else { return nil }
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")), isPort(bytes[(end + 1)...]) else { return nil }
            let address = address(zoned: bytes[(bytes.startIndex + 1)..<end])
            // Brackets are for what has colons.
            return bytes[..<end].contains(UInt8(ascii: ":")) ? address : nil
        }
        let colons = bytes.count { $0 == UInt8(ascii: ":") }
        guard colons == 1, let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return address(zoned: bytes) }
        return isPort(bytes[colon...]) ? IPAddress(bytes: bytes[..<colon]) : nil
    }

    private static func address(zoned bytes: ArraySlice<UInt8>) -> IPAddress? {
        guard let percent = bytes.firstIndex(of: UInt8(ascii: "%")) else { return IPAddress(bytes: bytes) }
        // Only IPv6 has zones (RFC 4007 §11), and a mapped address is none of them.
        guard percent + 1 < bytes.endIndex, let address = IPAddress(bytes: bytes[..<percent]), address.version == .v6 else {
            return nil
        }
        return address
    }

    /// Whether bytes are nothing, or a colon and a port.
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
