public import NIOCore

extension IPAddress {
    /// The address of a socket's other end; `nil` if it is a file.
    public init?(_ address: SocketAddress) {
        // The members of the C structures are named differently on every system; where the address stands is the same.
        switch address {
        case .v4(let address):
            self.init(v4: withUnsafeBytes(of: address.address) { $0[4..<8].reduce(0) { $0 << 8 | UInt32($1) } })
        case .v6(let address):
            self.init(v6: withUnsafeBytes(of: address.address) { $0[8..<24].reduce(0) { $0 << 8 | UInt128($1) } })
        case .unixDomainSocket: return nil
        }
    }
}
