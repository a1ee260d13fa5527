import AsyncHTTPClient
import HTTPTypes
import NIOHTTP1
import ResilientHTTP

extension HTTPClient.Request {
    /// Converts a request to the type of AsyncHTTPClient.
    /// - Parameters:
    ///   - request: The request. Its authority must be a host, with or without a port. With any other text, the request could go to another
    ///     server.
    ///   - body: The body in the type of AsyncHTTPClient.
    ///   - isStreamed: Whether the response may have any size. AsyncHTTPClient limits the size of decompressed bodies, so the request then
    ///     asks for an uncompressed response.
    /// - Throws: `TransportError` with the code `invalidRequest`.
    init(_ request: HTTPRequest, body: HTTPClient.Body?, isStreamed: Bool = false) throws(TransportError) {
        let (scheme, authority) = (request.scheme?.lowercased() ?? "", request.authority ?? "")
        guard scheme == "https" || scheme == "http", Self.isAuthority(authority) else { throw Self.refused(nil) }
        var headers = HTTPHeaders()
        for field in request.headerFields { headers.add(name: field.name.rawName, value: field.value) }
        if !headers.contains(name: "Accept-Encoding") {
            headers.add(name: "Accept-Encoding", value: isStreamed ? "identity" : "gzip, deflate")
        }
        do {
            try self.init(
                url: "\(scheme)://\(authority)\(request.path ?? "/")",
                method: HTTPMethod(rawValue: request.method.rawValue),
                headers: headers,
                body: body
            )
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
