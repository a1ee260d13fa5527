import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird

extension Response {
    /// An answer with a JSON body.
    static func json(
        _ value: some Encodable,
        status: HTTPResponse.Status = .ok,
        language: Language? = nil
    ) throws -> Response {
        var headers: HTTPFields = [.contentType: "application/json; charset=utf-8", .cacheControl: "no-store"]
        headers[.contentLanguage] = language?.rawValue
        return Response(
            status: status,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try answerEncoder.encode(value)))
        )
    }

    private static let answerEncoder = {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
}
