import ErrorContract
import HTTPTypes
public import Hummingbird
import Logging
import Observability
import Synchronization

/// Gives each request an id: the value of `X-Request-Id` if this value is valid, otherwise a new id. The response headers, the metadata of
/// each log line, and error responses contain the id.
///
/// ``ContractRouter`` and ``ContractGroup`` already contain this middleware. Add it to a plain `Router` outside of all middleware that
/// logs.
public struct RequestIDMiddleware<Context: RequestContext>: RouterMiddleware {
    private let adoptsContextID: Bool

    /// Creates the middleware.
    /// - Parameter adoptsContextID: If `true`, a request without a valid id gets the id that its context's logger already has, instead of a
    ///   new id. Use `true` for a group whose router logs with this id.
    public init(adoptsContextID: Bool = false) {
        self.adoptsContextID = adoptsContextID
    }

    /// Passes the request on with its id in the metadata of the logger, and adds the id to the response.
    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let id = id(of: request, in: context)
        var context = context
        context.setRequestID(id)
        var response = try await next(request, context)
        response.setRequestID(id)
        return response
    }

    /// Returns the id of a request: the id that the client sent, if it is valid, or another id.
    func id(of request: Request, in context: Context) -> String {
        if let given = request.headers.value(of: .requestID), Self.isSane(given) { return given }
        return adoptsContextID ? context.requestID : NewRequestID.make()
    }

    /// Returns whether an id has only letters, digits and `._-`, and at most 64 characters. The middleware replaces any other id.
    /// Otherwise, clients could forge log lines or send ids of any size.
    private static func isSane(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "._-".utf8.contains(byte)
                }
            }
    }
}

extension Response {
    /// Adds the id of the request. An error response already has the header, with the id that its body contains.
    mutating func setRequestID(_ id: String) {
        if !headers.contains(.requestID) { headers.append(HTTPField(name: .requestID, value: id)) }
    }
}

extension RequestContext {
    /// The id of the request. If the logger stores no metadata, the value is a new id. Hummingbird's property `id` would crash the process
    /// for such a logger.
    package var requestID: String { logger[metadataKey: Logger.requestIDKey].map { "\($0)" } ?? NewRequestID.make() }
}

/// Creates ids for requests without an id.
package enum NewRequestID {
    /// Returns a new id, written as a UUID of version 8 (RFC 9562 §5.8).
    ///
    /// The id is not a secret and can be guessed. This does no harm, because a client can send any id.
    package static func make() -> String {
        let numbers = UniqueNumbers.next()
        let high = numbers.0 & ~0xF000 | 0x8000
        let low = numbers.1 & ~(0b11 << 62) | 0b10 << 62
        return String(unsafeUninitializedCapacity: 36) { text in
            for hyphen in [8, 13, 18, 23] { text[hyphen] = UInt8(ascii: "-") }
            text.write(high >> 32, digits: 8, at: 0)
            text.write(high >> 16, digits: 4, at: 9)
            text.write(high, digits: 4, at: 14)
            text.write(low >> 48, digits: 4, at: 19)
            text.write(low, digits: 12, at: 24)
            return 36
        }
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    /// Writes the lowest digits of a number in lowercase hexadecimal.
    func write(_ number: UInt64, digits: Int, at start: Int) {
        var rest = number
        for place in (start..<start + digits).reversed() {
            let digit = UInt8(truncatingIfNeeded: rest & 0xF)
            self[place] = digit < 10 ? 0x30 + digit : 0x57 + digit
            rest >>= 4
        }
    }
}

/// Creates numbers that are unique within a process and across processes.
///
/// The numbers combine a counter with random numbers of the process. They are not secret and can be guessed. Each request needs several
/// numbers, so ``next()`` makes no system call.
enum UniqueNumbers {
    /// The random numbers of the process.
    private static let seeds = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))
    /// The number of calls so far.
    private static let count = Atomic<UInt64>(0)

    /// Returns two numbers that no other call returns.
    static func next() -> (UInt64, UInt64) {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        return (mixed(number &+ seeds.0), mixed(number &+ seeds.1))
    }

    /// The last steps of SplitMix64, which map different numbers to different numbers.
    private static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
