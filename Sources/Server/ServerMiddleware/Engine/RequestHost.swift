import ErrorContract
public import Hummingbird
import NIOHTTP1

/// The host in a `Host` header, such as `example.com:8080` or `[::1]:8080`.
///
/// Use this type instead of comparing the header as text, because two texts can differ in case, port and brackets but name the same host.
/// The comparison of hosts ignores the case (RFC 3986 §3.2.2) and the port.
public struct RequestHost: Hashable, Sendable {
    /// The name or address in lowercase and without port. An IPv6 address has no brackets.
    public let name: String

    /// Whether the host is this machine: `localhost`, an address of `127.0.0.0/8`, or `::1`.
    public var isLoopback: Bool { Self.isLoopback(name) }

    /// Returns whether a name or an address refers to this machine, without querying a name server.
    /// - Parameter name: The name or address, without port and brackets.
    public static func isLoopback(_ name: String) -> Bool {
        guard let address = IPAddress(name) else { return name.lowercased() == "localhost" }
        return address.version == .v4 ? address.bits >> 24 == 127 : address.bits == 1
    }

    /// Parses the value of a `Host` header.
    ///
    /// A valid name consists of letters, digits, `-`, `.`, `_` and `~`. Clients of an HTTP server send no other names (RFC 9112 §3.2).
    /// - Parameter value: The value of the header.
    /// - Returns: The host; `nil` for percent-encoded names, lists and empty values.
    /// - Complexity: O(length).
    public init?(_ value: String) {
        var value = value
        guard let name = value.withUTF8({ Self.name(in: $0).map { String(decoding: $0, as: UTF8.self) } }) else { return nil }
        self.name = name.lowercased()
    }

    /// Returns whether a request has exactly one valid `Host`, as HTTP/1.1 requires. An HTTP/1.0 request can also have no `Host`.
    static func isValid(in head: HTTPRequestHead) -> Bool {
        let hosts = head.headers["host"]
        guard var host = hosts.first else { return head.version != .http1_1 }
        return hosts.count == 1 && host.withUTF8 { name(in: $0) != nil }
    }

    /// Returns the bytes of the name within a valid host.
    private static func name(in bytes: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>>? {
        let isBracketed = bytes.first == UInt8(ascii: "[")
        let end =
            isBracketed ? bytes.firstIndex(of: UInt8(ascii: "]")) : bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        guard let end else { return nil }
        let name = isBracketed ? bytes[1..<end] : bytes[..<end]
        let port = bytes[(isBracketed ? end + 1 : end)...]
        guard (1...255).contains(name.count), name.allSatisfy(isBracketed ? isInAddress : isInName), port.count <= 6,
            port.first.map({ $0 == UInt8(ascii: ":") }) ?? true, port.dropFirst().allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return name
    }

    /// Returns whether a byte may be in a host name.
    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Returns whether a byte may be in an IPv6 address.
    private static func isInAddress(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: ":"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}

extension Request {
    /// Refuses a request if the server doesn't handle requests for the host in its header.
    ///
    /// This check prevents DNS rebinding. In this attack, a web page has a host name that the attacker controls. The attacker lets this
    /// name resolve to the address of this machine. Without the check, the page could then read responses that are meant for local users.
    /// - Parameter isAccepted: Returns whether the server handles requests for a host.
    /// - Throws: ``ContractError`` with the code `RESOURCE_NOT_FOUND`.
    public func requireHost(_ isAccepted: (RequestHost) -> Bool) throws {
        guard let host = RequestHost(head.authority ?? ""), isAccepted(host) else { throw ContractError(.resourceNotFound) }
    }
}
