public import ServerMiddleware

/// The parts that the types of account routes share, such as ``SessionRoutes`` and ``RecoveryRoutes``.
public struct RouteEnvironment: Sendable {
    let limits: RateLimits
    let shares: FairShares?
    let idempotency: IdempotencyKeys?
    let reader: RequestReader
    let localization: Localization

    /// Creates an environment.
    /// - Parameters:
    ///   - limits: The limits; they need a rule for each `AccountLimit`.
    ///   - shares: Admits clients of networks that have used little of the quota of `AccountLimit.resetGlobal`, even if the quota is used
    ///     up. With `nil`, this limit then refuses all clients.
    ///   - idempotency: Stores responses, so that clients can repeat requests with their idempotency keys; `nil` to ignore keys. Only the
    ///     operations for which the API reference lists the header `Idempotency-Key` use it.
    ///   - reader: Decodes bodies.
    ///   - localization: Chooses the language of texts.
    public init(
        limits: RateLimits,
        shares: FairShares? = nil,
        idempotency: IdempotencyKeys? = nil,
        reader: RequestReader = RequestReader(),
        localization: Localization
    ) {
        (self.limits, self.shares, self.idempotency) = (limits, shares, idempotency)
        (self.reader, self.localization) = (reader, localization)
    }
}
