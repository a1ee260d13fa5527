import Idempotency
import ServerMiddleware

/// The limits for requests in flight. The server processes up to ``requestsInFlight`` requests at the same time. A few further requests
/// wait briefly. The server refuses all others with 503.
public struct LoadSettings: Sendable {
    /// The largest number of requests that are processed at the same time, 1 to 100,000, and 512 by default. `REQUESTS_IN_FLIGHT`.
    public var requestsInFlight = 512
    /// The largest number of further requests that can wait, 0 to 10,000, and 64 by default. `REQUESTS_WAITING`.
    public var requestsWaiting = 64

    /// Creates the default settings.
    public init() {}

    /// Reads the settings.
    init(_ settings: inout SettingReader) {
        requestsInFlight = settings.integer("REQUESTS_IN_FLIGHT", in: 1...100_000, default: requestsInFlight)
        requestsWaiting = settings.integer("REQUESTS_WAITING", in: 0...10_000, default: requestsWaiting)
    }
}

/// The lifetime of idempotency keys, and the largest size of their store.
public struct IdempotencySettings: Sendable {
    /// The time for which a repeated request gets the stored response: a day by default. The environment variable accepts 0.05 to 168
    /// hours. `IDEMPOTENCY_KEY_HOURS`.
    public var lifetime = Duration.seconds(86_400)
    /// The largest size of all keys and stored responses in megabytes (2^20 bytes), 1 to 1,048,576, and 1,024 by default. Each client can
    /// use only a share of this size; see `IdempotencyBounds`. `IDEMPOTENCY_MEGABYTES`.
    public var megabytes = 1_024

    /// Creates the default settings.
    public init() {}

    /// Reads the settings.
    init(_ settings: inout SettingReader) {
        lifetime = settings.hours("IDEMPOTENCY_KEY_HOURS", in: 0.05...168, default: lifetime)
        megabytes = settings.integer("IDEMPOTENCY_MEGABYTES", in: 1...1_048_576, default: megabytes)
    }

    /// The bounds for the store of idempotency keys.
    var bounds: IdempotencyBounds { IdempotencyBounds(bytes: megabytes << 20) }
}
