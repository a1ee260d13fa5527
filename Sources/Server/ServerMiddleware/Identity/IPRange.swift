/// A range of IP addresses with a common prefix, such as `10.0.0.0/8` (CIDR, RFC 4632 and RFC 4291 §2.3). ``ClientIdentity`` uses ranges
/// for trusted proxies.
public struct IPRange: Hashable, Sendable {
    /// The lowest address of the range.
    public let base: IPAddress
    /// The number of leading bits that all addresses share.
    public let prefixLength: Int

    /// Parses a range, such as `10.0.0.0/8`, or a single address.
    /// - Parameter text: The range, such as `10.0.0.0/8`, `2001:db8::/32` or `192.0.2.7`. Bits after the prefix must be zero, because other
    ///   bits are usually typing errors.
    /// - Throws: ``Refusal`` with a description for the author of the text. The initializer also refuses the range of all addresses of an
    ///   IP version.
    public init(_ text: String) throws(Refusal) {
        let halves = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = halves.first, let address = IPAddress(first) else {
            throw Refusal(description: "“\(text)” is neither an address such as 10.0.0.1 nor a range such as 10.0.0.0/8")
        }
        let width = address.version.bitWidth
        var length = width
        if halves.count == 2 {
            // A range of mapped addresses is a range of IPv4 addresses.
            let mappedBits = address.version == .v4 && first.contains(":") ? 96 : 0
            let digits = halves[1]
            guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }),
                let number = Int(digits),
                (0...width).contains(number - mappedBits)
            else {
                let range = "from \(mappedBits + 1) to \(mappedBits + width)"
                throw Refusal(description: "“\(text)” must have a whole number \(range) after the slash")
            }
            length = number - mappedBits
        }
        guard length > 0 else {
            let version = width == 32 ? "IPv4" : "IPv6"
            throw Refusal(description: "“\(text)” contains all \(version) addresses; use a smaller range, or single addresses")
        }
        base = address.prefix(length)
        prefixLength = length
        guard base == address else {
            throw Refusal(
                description: "“\(text)” has bits set after its prefix; use the range \(self), or the single address \(address)"
            )
        }
    }

    /// Returns whether an address is in the range. An address of the other IP version is never in the range.
    /// - Complexity: O(1).
    public func contains(_ address: IPAddress) -> Bool {
        address.version == base.version && address.prefix(prefixLength) == base
    }

    /// The reason why a text is not a range.
    public struct Refusal: Error, Hashable, CustomStringConvertible {
        public let description: String
    }
}

extension IPRange: CustomStringConvertible {
    /// The range in CIDR notation.
    public var description: String { "\(base)/\(prefixLength)" }
}
