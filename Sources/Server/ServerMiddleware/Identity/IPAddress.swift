public import NIOCore

/// An IP address, version 4 or 6, stored as a number.
///
/// An IPv4 address can be mapped into IPv6 (`::ffff:192.0.2.1`, RFC 4291 §2.5.5.2). A mapped address equals the IPv4 address, because a
/// socket for both versions reports IPv4 peers in the mapped form. Parsing never queries a name server.
public struct IPAddress: Hashable, Sendable {
    /// The versions of the Internet Protocol.
    public enum Version: Hashable, Sendable {
        /// IPv4 or IPv6.
        case v4, v6

        /// The length of an address in bits.
        var bitWidth: Int { self == .v4 ? 32 : 128 }
    }

    /// The version of the address. It is never `v6` for a mapped IPv4 address.
    public let version: Version
    /// The high and the low half of ``bits``. A `UInt128` would be aligned to 16 bytes. The address would then not fit into the inline
    /// buffer of an existential, and each claim of a rate limit would allocate memory for its key.
    private let high, low: UInt64
    /// The bits of the address. An IPv4 address uses the lowest 32 bits.
    public var bits: UInt128 { UInt128(high) << 64 | UInt128(low) }

    /// Creates an IPv4 address.
    public init(v4 bits: UInt32) {
        self.init(version: .v4, bits: UInt128(bits))
    }

    /// Creates an IPv6 address. If the bits are a mapped IPv4 address, creates an IPv4 address.
    public init(v6 bits: UInt128) {
        let isMapped = bits >> 32 == 0xFFFF
        self.init(version: isMapped ? .v4 : .v6, bits: isMapped ? bits & 0xFFFF_FFFF : bits)
    }

    /// Parses an address that has no port, no zone and no brackets.
    ///
    /// An IPv4 address must have four decimal numbers without leading zeros, because some parsers read numbers with leading zeros as octal.
    /// An IPv6 address can have any spelling of RFC 4291 §2.2.
    /// - Parameter text: The address, such as `192.0.2.7` or `2001:db8::7`.
    /// - Returns: The address; `nil` for any other text.
    /// - Complexity: O(length). At most 45 bytes are read.
    public init?(_ text: some StringProtocol) {
        self.init(bytes: Array(text.utf8)[...])
    }

    init?(bytes: ArraySlice<UInt8>) {
        // The longest text has six groups of four digits and an IPv4 address.
        guard bytes.count <= 45 else { return nil }
        if bytes.contains(UInt8(ascii: ":")) {
            guard let bits = Self.v6(bytes) else { return nil }
            self.init(v6: bits)
        } else {
            guard let bits = Self.v4(bytes) else { return nil }
            self.init(v4: bits)
        }
    }

    /// Returns the address with all bits after the first `length` bits cleared.
    /// - Precondition: `length` is from 0 to the version's length in bits.
    func prefix(_ length: Int) -> IPAddress {
        precondition((0...version.bitWidth).contains(length), "a prefix has up to \(version.bitWidth) bits (is \(length))")
        let cleared = version.bitWidth - length
        // A shift by the full width would not clear the bits.
        let kept = cleared == 128 ? 0 : (bits >> UInt128(cleared)) << UInt128(cleared)
        return IPAddress(version: version, bits: kept)
    }

    private init(version: Version, bits: UInt128) {
        self.version = version
        high = UInt64(truncatingIfNeeded: bits >> 64)
        low = UInt64(truncatingIfNeeded: bits)
    }
}

extension IPAddress {
    /// Parses four decimal numbers.
    private static func v4(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt32 = 0
        for part in parts {
            guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
            var number: UInt32 = 0
            for digit in part {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                number = number * 10 + UInt32(digit - UInt8(ascii: "0"))
            }
            guard number <= 255 else { return nil }
            bits = bits << 8 | number
        }
        return bits
    }

    /// Parses up to eight groups. The text can contain one `::`, and can end with an IPv4 address.
    private static func v6(_ bytes: ArraySlice<UInt8>) -> UInt128? {
        let colon = UInt8(ascii: ":")
        var groups: [UInt16] = []
        /// The number of groups before the `::`.
        var gap: Int?
        var rest = bytes
        if rest.starts(with: [colon, colon]) {
            gap = 0
            rest = rest.dropFirst(2)
        }
        while !rest.isEmpty {
            let group = rest.prefix { $0 != colon }
            rest = rest[group.endIndex...]
            if rest.isEmpty, group.contains(UInt8(ascii: ".")) {
                guard let v4 = v4(group) else { return nil }
                groups += [UInt16(v4 >> 16), UInt16(v4 & 0xFFFF)]
                break
            }
            guard let number = hexadecimal(group), groups.count < 8 else { return nil }
            groups.append(number)
            guard !rest.isEmpty else { break }
            rest = rest.dropFirst()
            if rest.first == colon {
                guard gap == nil else { return nil }
                gap = groups.count
                rest = rest.dropFirst()
            } else if rest.isEmpty {
                return nil
            }
        }
        // `::` replaces at least one group.
        guard gap == nil ? groups.count == 8 : groups.count <= 7 else { return nil }
        if let gap { groups.insert(contentsOf: repeatElement(0, count: 8 - groups.count), at: gap) }
        return groups.reduce(0) { $0 << 16 | UInt128($1) }
    }

    /// Parses a group of one to four digits.
    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard (1...4).contains(digits.count) else { return nil }
        var number: UInt16 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt16(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt16(digit - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): number = number << 4 | UInt16(digit - UInt8(ascii: "A") + 10)
            default: return nil
            }
        }
        return number
    }
}

extension IPAddress: CustomStringConvertible {
    /// The canonical text (RFC 5952).
    public var description: String {
        guard version == .v6 else {
            return (0..<4).reversed().map { "\((bits >> UInt128($0 * 8)) & 0xFF)" }.joined(separator: ".")
        }
        let groups = (0..<8).reversed().map { UInt16((bits >> UInt128($0 * 16)) & 0xFFFF) }
        let zeros = Self.longestZeros(groups)
        let text = { (groups: ArraySlice<UInt16>) in groups.map { String($0, radix: 16) }.joined(separator: ":") }
        return zeros.count < 2 ? text(groups[...]) : "\(text(groups[..<zeros.lowerBound]))::\(text(groups[zeros.upperBound...]))"
    }

    /// Returns the longest run of zero groups, which the text replaces with `::`. If several runs have the same length, returns the first
    /// one (RFC 5952 §4.2.3).
    private static func longestZeros(_ groups: [UInt16]) -> Range<Int> {
        var (longest, current) = (0..<0, 0..<0)
        for (index, group) in groups.enumerated() {
            current = group == 0 ? (current.isEmpty ? index : current.lowerBound)..<(index + 1) : 0..<0
            if current.count > longest.count { longest = current }
        }
        return longest
    }
}

extension IPAddress {
    /// Creates the IP address of a socket address, such as the address of a connection's peer. Returns `nil` for a Unix domain socket.
    public init?(_ address: SocketAddress) {
        // The C structures have different member names on each system, but the address is at the same offset.
        switch address {
        case .v4(let address):
            self.init(v4: withUnsafeBytes(of: address.address) { $0[4..<8].reduce(0) { $0 << 8 | UInt32($1) } })
        case .v6(let address):
            self.init(v6: withUnsafeBytes(of: address.address) { $0[8..<24].reduce(0) { $0 << 8 | UInt128($1) } })
        case .unixDomainSocket: return nil
        }
    }
}
