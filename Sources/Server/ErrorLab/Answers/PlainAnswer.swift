import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

/// An answer with its body in memory.
struct PlainAnswer: Sendable {
    var status: Int
    var headers: HTTPFields
    var body: [UInt8]

    /// An answer in JSON.
    static func json(_ value: JSONValue, status: Int = 200) -> PlainAnswer {
        PlainAnswer(status: status, headers: [.contentType: "application/json; charset=utf-8"], body: value.encoded())
    }

    /// A value in JSON.
    static func json(encoding value: some Encodable) throws -> PlainAnswer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return PlainAnswer(
            status: 200,
            headers: [.contentType: "application/json; charset=utf-8"],
            body: [UInt8](try encoder.encode(value))
        )
    }

    /// The answer to send, whole and at once.
    var response: Response {
        Response(status: .init(code: status), headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}

extension PlainAnswer {
    /// Takes an answer apart.
    init(_ response: Response) async throws {
        let collector = BodyCollector()
        try await response.body.write(collector)
        var headers = response.headers
        headers[.contentLength] = nil
        self.init(status: response.status.code, headers: headers, body: collector.bytes)
    }
}

/// Gathers a body in memory. Used by one task only.
private final class BodyCollector: ResponseBodyWriter {
    private(set) var bytes: [UInt8] = []

    func write(_ buffer: ByteBuffer) async throws {
        bytes += buffer.readableBytesView
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
