import ErrorContract
import HTTPTypes
public import Hummingbird

/// Reads bodies of requests: JSON and forms, bounded, with every problem told at once.
///
/// A missing or other content type is refused, so is JSON that is not UTF-8, is nested too deeply or names a key twice: two
/// readers of one request must not disagree about what it says.
public struct RequestReader: Sendable {
    /// The largest body, in bytes.
    public var maximumBodySize: Int
    /// The deepest nesting of JSON.
    public var maximumDepth: Int

    /// Creates a reader.
    public init(maximumBodySize: Int = 65_536, maximumDepth: Int = 32) {
        precondition(maximumBodySize > 0, "maximumBodySize must be positive (is \(maximumBodySize))")
        self.maximumBodySize = maximumBodySize
        self.maximumDepth = maximumDepth
    }

    /// Reads a value of any `Decodable` type.
    /// - Throws: ``ContractError`` with a code of the `REQUEST_` or `VALIDATION_` family.
    public func read<Value: Decodable>(_ type: Value.Type, from request: Request) async throws -> Value {
        let media = request.headers[.contentType].map { $0.prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace } }
        switch media {
        case "application/json":
            return try BodyDecoder.decode(type, from: try json(try await body(of: request)), isForm: false)
        case "application/x-www-form-urlencoded":
            return try BodyDecoder.decode(type, from: try FormReader.object(try await body(of: request)), isForm: true)
        default: throw ContractError(.requestUnsupportedMediaType)
        }
    }

    private func body(of request: Request) async throws -> [UInt8] {
        if let length = request.headers[.contentLength].flatMap(Int.init), length > maximumBodySize {
            throw ContractError(.requestTooLarge)
        }
        var bytes: [UInt8] = []
        for try await chunk in request.body {
            guard bytes.count + chunk.readableBytes <= maximumBodySize else { throw ContractError(.requestTooLarge) }
            bytes.append(contentsOf: chunk.readableBytesView)
        }
        return bytes
    }

    private func json(_ bytes: [UInt8]) throws -> JSONValue {
        do {
            return try JSONParser(maximumDepth: maximumDepth, duplicates: .refused).parse(bytes)
        } catch {
            throw ContractError(.requestMalformed)
        }
    }
}
