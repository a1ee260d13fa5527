/// The middleware of a client in its right order, the outermost first.
///
/// A call passes: idempotency key → retry( gate → throttle → breaker → authorise( transport → status → error decoding ) ).
/// The deadline stands around all of it.
public enum ClientPipeline {
    /// What a client has if it is told nothing else.
    public static func standard(
        retry: RetryMiddleware? = RetryMiddleware()
    ) -> [any ClientMiddleware] {
        let layers: [(any ClientMiddleware)?] = [retry]
        return layers.compactMap { $0 }
    }
}
