import ErrorContract
import ErrorLabContract
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

/// A response with its body in memory, so that the lab can change the bytes.
struct BufferedResponse: Sendable {
    /// The HTTP status.
    var status: Int
    /// The header fields, without `Content-Length`, which the lab computes when it sends the response.
    var headers: HTTPFields
    /// The bytes of the body. The lab may send only a part of them.
    var body: [UInt8]

    /// Creates a JSON response.
    /// - Parameters:
    ///   - value: The body.
    ///   - status: The HTTP status.
    static func json(_ value: JSONValue, status: Int = 200) -> BufferedResponse {
        BufferedResponse(status: status, headers: [.contentType: "application/json; charset=utf-8"], body: value.encoded())
    }

    /// Creates a JSON response with status 200 from an encodable value. The members are sorted.
    /// - Throws: `EncodingError`.
    static func json(encoding value: some Encodable) throws -> BufferedResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return BufferedResponse(
            status: 200,
            headers: [.contentType: "application/json; charset=utf-8"],
            body: [UInt8](try encoder.encode(value))
        )
    }

    /// The complete response to send.
    var response: Response {
        Response(status: .init(code: status), headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}

extension BufferedResponse {
    /// Reads a response and its body into memory. The initializer removes `Content-Length`, because the body may change.
    ///
    /// There is no limit for the size of the body, so use the initializer only for responses of this server.
    /// - Parameter response: A response of the server's own routes.
    /// - Throws: The error of the body's writer.
    init(_ response: Response) async throws {
        let collector = BodyCollector()
        try await response.body.write(collector)
        var headers = response.headers
        headers[.contentLength] = nil
        self.init(status: response.status.code, headers: headers, body: collector.bytes)
    }
}

/// A writer that collects a body in memory. Only one task may use it.
private final class BodyCollector: ResponseBodyWriter {
    private(set) var bytes: [UInt8] = []

    func write(_ buffer: ByteBuffer) async throws {
        bytes += buffer.readableBytesView
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

extension BufferedResponse {
    /// Applies the requested defects that only change bytes: another status, other content, another character encoding, another content
    /// type, and a missing error code.
    /// - Parameter requested: The requested response.
    mutating func apply(_ requested: LabResponse) {
        if let status = requested.status { self.status = status }
        switch requested.content {
        case .html:
            // A captive portal doesn't send the header fields of the error contract.
            headers = [.contentType: "text/html; charset=utf-8"]
            body = Array(Self.portal.utf8)
        case .text:
            headers[.contentType] = "text/plain"
            body = Array("upstream request timeout".utf8)
        case .empty:
            headers[.contentType] = nil
            body = []
        case nil: break
        }
        switch requested.charset {
        case .latin1: body = Self.latin1(body)
        case .utf16: body = String(decoding: body, as: UTF8.self).utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        case .bom: body = [0xEF, 0xBB, 0xBF] + body
        case nil: break
        }
        if let type = requested.contentType { headers[.contentType] = type }
        if requested.isBare { headers[.errorCode] = nil }
        // A response with the status 204 or 304 has no body (RFC 9110 §15.3.5, §15.4.5).
        if status == 204 || status == 304 { body = [] }
    }

    /// The page of a captive portal.
    private static let portal = """
        <!DOCTYPE html>
        <html lang="en"><head><title>Wi-Fi</title></head>
        <body><h1>Welcome</h1><p>Please accept the terms of use to go online.</p></body></html>

        """

    /// Converts UTF-8 to ISO 8859-1. Other characters become question marks.
    /// - Parameter bytes: Text in UTF-8. The function first replaces invalid bytes.
    private static func latin1(_ bytes: [UInt8]) -> [UInt8] {
        String(decoding: bytes, as: UTF8.self).unicodeScalars.map { UInt8(exactly: $0.value) ?? UInt8(ascii: "?") }
    }
}
