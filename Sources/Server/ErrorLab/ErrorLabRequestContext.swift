public import Hummingbird
public import NIOCore

/// A request's context that holds the connection that the request came on, so that the lab can break it.
public protocol ErrorLabRequestContext: RequestContext {
    /// The connection.
    var channel: any Channel { get }
}

/// A context for servers that have none of their own.
public struct ErrorLabContext: ErrorLabRequestContext {
    /// What Hummingbird keeps of a request.
    public var coreContext: CoreRequestContextStorage
    /// The connection.
    public let channel: any Channel

    /// Creates a context.
    public init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }
}
