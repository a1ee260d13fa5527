/// The middleware of a client in its right order, the outermost first.
///
/// A call passes: idempotency key → retry( gate → throttle → breaker → authorise( transport → status → error decoding ) ).
/// The deadline stands around all of it.
public enum ClientPipeline {
    /// What a client has if it is told nothing else.
    public static func standard(
        retry: RetryMiddleware? = RetryMiddleware(),
        gate: GateMiddleware? = GateMiddleware(),
        throttle: ThrottleMiddleware? = nil,
        breaker: BreakerMiddleware? = BreakerMiddleware()
    ) -> [any ClientMiddleware] {
        let layers: [(any ClientMiddleware)?] = [IdempotencyKeyMiddleware(), retry, gate, throttle, breaker]
        return layers.compactMap { $0 }
    }
}
