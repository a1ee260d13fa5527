import ErrorContract
import HTTPTypes
public import Hummingbird
package import StrictJSON

/// Reads JSON and form bodies of requests, limits their size and time, and reports all problems at once.
///
/// ```swift
/// let reader = RequestReader(maximumBodySize: 16_384)
/// let note = try await reader.read(Note.self, from: request)
/// ```
///
/// The reader refuses a missing or unsupported content type. It also refuses JSON that different parsers could read differently: JSON that
/// is not UTF-8, is nested too deeply or has a duplicate key. The reader ignores members of the body that the type doesn't decode.
///
/// The reader stores nothing about requests, so create one reader for all routes. If the request context conforms to
/// ``ContractRequestContext``, `request.decode(as:context:)` also reads the body with a `RequestReader`.
public struct RequestReader: RequestDecoder, Sendable {
    /// The largest body, in bytes; 65,536 by default. For a larger body, the client gets 413 `REQUEST_TOO_LARGE`. If `Content-Length`
    /// exceeds the size, the server doesn't read the body.
    public var maximumBodySize: Int
    /// The largest nesting depth of JSON; 32 by default.
    public var maximumDepth: Int
    /// The time within which a body must have arrived completely; 15 seconds by default. The time begins when the route or a middleware
    /// starts to read the body. If the body is late, the client gets 408 `REQUEST_TIMEOUT`, and the connection closes.
    public var bodyDeadline: Duration

    private let deadlines: Deadlines

    /// The timer of all readers that are created without a clock.
    private static let deadlines = Deadlines(clock: ContinuousClock())

    /// Creates a reader.
    /// - Parameters:
    ///   - maximumBodySize: The largest body, in bytes.
    ///   - maximumDepth: The largest nesting depth of JSON.
    ///   - bodyDeadline: The time within which a body must have arrived completely.
    /// - Precondition: `maximumBodySize` and `bodyDeadline` are positive.
    public init(maximumBodySize: Int = 65_536, maximumDepth: Int = 32, bodyDeadline: Duration = .seconds(15)) {
        self.init(maximumBodySize, maximumDepth, bodyDeadline, Self.deadlines)
    }

    /// Creates a reader that measures time by the given clock.
    /// - Parameters:
    ///   - maximumBodySize: The largest body, in bytes.
    ///   - maximumDepth: The largest nesting depth of JSON.
    ///   - bodyDeadline: The time within which a body must have arrived completely.
    ///   - clock: A monotonic clock. Each reader that is created with a clock has its own timer.
    /// - Precondition: `maximumBodySize` and `bodyDeadline` are positive.
    public init<C: Clock>(
        maximumBodySize: Int = 65_536,
        maximumDepth: Int = 32,
        bodyDeadline: Duration = .seconds(15),
        clock: C
    ) where C.Duration == Duration {
        self.init(maximumBodySize, maximumDepth, bodyDeadline, Deadlines(clock: clock))
    }

    private init(_ maximumBodySize: Int, _ maximumDepth: Int, _ bodyDeadline: Duration, _ deadlines: Deadlines) {
        precondition(maximumBodySize > 0, "maximumBodySize must be positive (is \(maximumBodySize))")
        precondition(bodyDeadline > .zero, "bodyDeadline must be positive (is \(bodyDeadline))")
        self.maximumBodySize = maximumBodySize
        self.maximumDepth = maximumDepth
        self.bodyDeadline = bodyDeadline
        self.deadlines = deadlines
    }

    /// Reads a value of any `Decodable` type.
    /// - Parameters:
    ///   - type: The type. It can validate values in `init(from:)` by throwing a `ContractRefusal` with a code.
    ///   - request: The request. Its body can be read only once.
    /// - Returns: The value.
    /// - Throws: ``ContractError`` with a code of the `REQUEST_` or `VALIDATION_` family. One error contains all problems with values, and
    ///   each problem has the path of its value.
    /// - Complexity: O(size of the body).
    public func read<Value: Decodable>(_ type: Value.Type, from request: Request) async throws -> Value {
        switch Media(request) {
        case .json:
            return try BodyDecoder.decode(type, from: try json(try await bytes(of: request)), isForm: false)
        case .form:
            return try BodyDecoder.decode(type, from: try FormReader.object(try await bytes(of: request)), isForm: true)
        case nil: throw ContractError(.requestUnsupportedMediaType)
        }
    }

    /// The supported formats of bodies.
    private enum Media {
        case json, form

        init?(_ request: Request) {
            guard let field = request.headers.value(of: .contentType) else { return nil }
            if Self.names(field, "application/json") {
                self = .json
            } else if Self.names(field, "application/x-www-form-urlencoded") {
                self = .form
            } else {
                return nil
            }
        }

        /// Returns whether a Content-Type field has a media type. The function ignores case, parameters and white space.
        private static func names(_ field: String, _ type: StaticString) -> Bool {
            type.withUTF8Buffer { type in
                var place = 0
                for byte in field.utf8 {
                    switch byte {
                    case UInt8(ascii: ";"): return place == type.count
                    case 0x09...0x0D, 0x20: continue
                    case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                        guard place < type.count, type[place] == byte | 0x20 else { return false }
                    default: guard place < type.count, type[place] == byte else { return false }
                    }
                    place += 1
                }
                return place == type.count
            }
        }
    }

    /// Calls a closure with the request. If the reader supports the content type, it first reads the body into memory.
    /// - Parameters:
    ///   - request: The request. If its method is safe, such as GET, the reader doesn't read its body.
    ///   - next: The closure. If the closure reads the body, it gets the bytes from memory.
    /// - Throws: The errors of ``bytes(of:)`` and of the closure.
    func gathering<Result>(_ request: Request, _ next: (Request) async throws -> Result) async throws -> Result {
        let hasBody =
            request.headers.contains(.transferEncoding) || request.headers.value(of: .contentLength).map { $0 != "0" } == true
        guard !request.method.isSafe, hasBody, Media(request) != nil else { return try await next(request) }
        var whole = request
        whole.body = RequestBody(buffer: ByteBuffer(bytes: try await bytes(of: request)))
        return try await Self.$isGathered.withValue(true) { try await next(whole) }
    }

    /// Whether the body of the current request is already in memory. If so, the reader needs no task and no deadline to read the body.
    /// Creating a task and a deadline would take longer than many routes.
    @TaskLocal private static var isGathered = false

    /// Reads a value for `request.decode(as:context:)`; see ``ContractRequestContext``.
    /// - Throws: The errors of ``read(_:from:)``.
    public func decode<Value: Decodable>(
        _ type: Value.Type,
        from request: Request,
        context: some RequestContext
    ) async throws -> Value {
        try await read(type, from: request)
    }

    /// Reads the complete body, regardless of its content type.
    /// - Throws: ``ContractError`` with the code `REQUEST_TOO_LARGE`, `REQUEST_TIMEOUT` or `REQUEST_MALFORMED`, or `CancellationError`.
    func bytes(of request: Request) async throws -> [UInt8] {
        if let length = request.headers.value(of: .contentLength).flatMap(Int.init), length > maximumBodySize {
            throw ContractError(.requestTooLarge)
        }
        let body = request.body
        guard !Self.isGathered else { return try await collect(body) }
        // The deadline applies to the whole body, not to the time between two bytes. A client that sends one byte every few seconds is too
        // slow.
        guard let running = RunningTask.current else {
            return try await deadlines.run(within: bodyDeadline, throwing: Self.tooSlow) { try await collect(body) }
        }
        return try await deadlines.run(within: bodyDeadline, of: running, throwing: Self.tooSlow) { try await collect(body) }
    }

    /// The error of a body that arrives too slowly.
    private static var tooSlow: ContractError { ContractError(.requestTimeout, headers: [.connection: "close"]) }

    /// Reads the chunks of a body up to the largest size.
    private func collect(_ body: RequestBody) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            for try await chunk in body {
                guard bytes.count + chunk.readableBytes <= maximumBodySize else { throw ContractError(.requestTooLarge) }
                bytes.append(contentsOf: chunk.readableBytesView)
            }
        } catch let error as ContractError {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // The connection broke, or the bytes are not valid HTTP. It is not certain that the client receives the response, and the
            // connection can't be reused.
            throw ContractError(.requestMalformed, headers: [.connection: "close"])
        }
        return bytes
    }

    /// Parses a body as JSON.
    private func json(_ bytes: [UInt8]) throws -> JSONValue {
        do {
            return try JSONParser(maximumDepth: maximumDepth, duplicates: .refused).parse(bytes)
        } catch {
            throw ContractError(.requestMalformed)
        }
    }
}

/// Reads `application/x-www-form-urlencoded` bodies (WHATWG URL §5.1).
package enum FormReader {
    /// Parses the body of a form into a JSON object. Each field of the form becomes a member whose value is a string.
    /// - Throws: ``ContractError`` with the code `REQUEST_MALFORMED` for invalid UTF-8, invalid percent-encoding, a duplicate name, or more
    ///   than 100 fields.
    package static func object(_ bytes: [UInt8]) throws -> JSONValue {
        var object = JSONObject()
        let pairs = bytes.split(separator: UInt8(ascii: "&"))
        guard pairs.count <= 100 else { throw ContractError(.requestMalformed) }
        for pair in pairs {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = halves.first.flatMap(decoded), let value = halves.count == 2 ? decoded(halves[1]) : "",
                object[name] == nil
            else { throw ContractError(.requestMalformed) }
            object[name] = .string(value)
        }
        return .object(object)
    }

    /// Decodes the percent-encoding of a name or a value, and decodes `+` as a space. Returns `nil` if the percent-encoding or the decoded
    /// UTF-8 is invalid.
    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        var output: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): output.append(0x20)
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, let text = String(validating: digits, as: UTF8.self),
                    text.allSatisfy(\.isHexDigit), let value = UInt8(text, radix: 16)
                else { return nil }
                output.append(value)
                rest = rest.dropFirst(2)
            default: output.append(byte)
            }
        }
        return String(validating: output, as: UTF8.self)
    }
}
