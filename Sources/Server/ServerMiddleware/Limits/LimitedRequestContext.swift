public import Hummingbird

/// The context of requests that can be limited: it knows the connection's peer, and keeps what the limits said.
///
/// ```swift
/// struct AppContext: LimitedRequestContext {
///     var coreContext: CoreRequestContextStorage
///     let remoteAddress: SocketAddress?
///     let limits = RequestLimits()
///
///     init(source: ApplicationRequestContextSource) {
///         coreContext = .init(source: source)
///         remoteAddress = source.channel.remoteAddress
///     }
/// }
/// ```
public protocol LimitedRequestContext: RemoteAddressRequestContext {
    /// What the limits said of this request; a new one for each.
    var limits: RequestLimits { get }
}
