import ErrorContract
import HTTPTypes
import Hummingbird
import NIOCore
import ServerMiddleware

/// The context of a request, with the connection that it came on.
struct HoldfastContext: LimitedRequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel
    let limits = RequestLimits()
    var remoteAddress: SocketAddress? { channel.remoteAddress }

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}

/// Ends the connection of a client whose body was refused as too large or too slow, or whose route did not respond in time.
///
/// The engine would go on reading such a body to its end, however long that takes. `Connection: close` has it end the connection
/// a second after the response, so that the client can read it.
struct LingeringCloseMiddleware: RouterMiddleware {
    func handle(
        _ request: Request,
        context: HoldfastContext,
        next: (Request, HoldfastContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        guard [.contentTooLarge, .requestTimeout, .gatewayTimeout].contains(response.status) else { return response }
        response.headers[.connection] = "close"
        return response
    }
}
