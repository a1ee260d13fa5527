import ErrorContract
import HTTPTypes
public import Hummingbird
import Logging
import Observability

/// Gives each request an id: the one of its `X-Request-Id` if that is sane, else a new one. The id stands in the answer's
/// headers and in the metadata of every log line, and error answers name it.
public struct RequestIDMiddleware<Context: RequestContext>: RouterMiddleware {
    /// Creates the middleware.
    public init() {}

    public func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let given = request.headers.value(of: .requestID)
        let id = given.flatMap { Self.isSane($0) ? $0 : nil } ?? NewRequestID.make()
        var context = context
        context.logger[metadataKey: Logger.requestIDKey] = .string(id)
        var response = try await next(request, context)
        // An error answer has the id already, the one that its body names.
        if !response.headers.contains(.requestID) { response.headers.append(HTTPField(name: .requestID, value: id)) }
        return response
    }

    /// Letters, digits and `._-`, at most 64: nothing that could forge a log line or grow without bound.
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

extension RequestContext {
    /// The id of the request, or a new one if the logger keeps no metadata, where `id` would trap.
    package var requestID: String { logger[metadataKey: Logger.requestIDKey].map { "\($0)" } ?? NewRequestID.make() }
}
