import AsyncHTTPClient
import HTTPTypes
import NIOHTTP1
import ResilientHTTP
import Synchronization

/// Creates requests in the type of AsyncHTTPClient.
///
/// The check and the parsing of an address take 6 % of the instructions of a call. The factory therefore keeps the addresses of recent
/// requests. It keeps no address with a query, because a query can contain personal data.
final class RequestFactory: Sendable {
    /// A method and an address, in the form in which the client passes them.
    private struct Target: Hashable {
        var method: String
        var scheme: String
        var authority: String
        var path: String

        /// Whether the factory keeps the address.
        var isKept: Bool { path.utf8.count <= 256 && !path.utf8.contains(UInt8(ascii: "?")) }
    }

    /// The maximum number of addresses that the factory keeps.
    private static let capacity = 64
    /// Requests with the addresses, without headers and bodies.
    private let recent = Mutex<[Target: HTTPClient.Request]>([:])

    /// Converts a request to the type of AsyncHTTPClient.
    /// - Parameters:
    ///   - request: The request. Its authority must be a host, with or without a port. With any other text, the request could go to another
    ///     server.
    ///   - body: The body in the type of AsyncHTTPClient.
    ///   - isStreamed: Whether the response may have any size. AsyncHTTPClient limits the size of decompressed bodies, so the request then
    ///     asks for an uncompressed response.
    /// - Throws: `TransportError` with the code `invalidRequest`.
    func make(_ request: HTTPRequest, body: HTTPClient.Body?, isStreamed: Bool) throws(TransportError) -> HTTPClient.Request {
        var message = try message(
            for: Target(
                method: request.method.rawValue,
                scheme: request.scheme ?? "",
                authority: request.authority ?? "",
                path: request.path ?? "/"
            )
        )
        message.headers.reserveCapacity(request.headerFields.count + 1)
        for field in request.headerFields { message.headers.add(name: field.name.rawName, value: field.value) }
        if !message.headers.contains(name: "Accept-Encoding") {
            message.headers.add(name: "Accept-Encoding", value: isStreamed ? "identity" : "gzip, deflate")
        }
        message.body = body
        return message
    }

    /// Returns a request without headers and body.
    private func message(for target: Target) throws(TransportError) -> HTTPClient.Request {
        if let message = recent.withLock({ $0[target] }) { return message }
        let scheme = target.scheme.lowercased()
        guard scheme == "https" || scheme == "http", Self.isAuthority(target.authority) else { throw Self.refused(nil) }
        do {
            let message = try HTTPClient.Request(
                url: "\(scheme)://\(target.authority)\(target.path)",
                method: HTTPMethod(rawValue: target.method)
            )
            if target.isKept {
                recent.withLock { recent in
                    if recent.count >= Self.capacity { recent.removeAll(keepingCapacity: true) }
                    recent[target] = message
                }
            }
            return message
        } catch {
            throw Self.refused(error)
        }
    }

    /// Returns whether a text is a host, with or without a port, and no other part of an address.
    private static func isAuthority(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            !bytes.isEmpty
                && bytes.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"), UInt8(ascii: "\\"): false
                    default: (0x21...0x7E).contains(byte)
                    }
                }
        }
    }

    /// Returns the error of a request without a valid address.
    private static func refused(_ cause: (any Error)?) -> TransportError {
        TransportError(.invalidRequest, message: "the request has no valid address", wasSent: false, cause: cause)
    }
}

extension HTTPResponse {
    /// Converts the head of a response. The initializer drops fields with invalid names.
    init(_ head: HTTPResponseHead) {
        // `Status` traps for numbers with more than three digits.
        self.init(status: .init(code: min(max(Int(head.status.code), 0), 999)))
        headerFields.reserveCapacity(head.headers.count)
        for (name, value) in head.headers {
            guard let name = HTTPField.Name(name) else { continue }
            headerFields.append(HTTPField(name: name, value: value))
        }
    }
}
