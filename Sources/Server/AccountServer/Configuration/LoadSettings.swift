import Idempotency
import ServerMiddleware

/// The number of requests that are processed at once.
public struct LoadSettings: Sendable {
    /// The number of requests that are processed at once.
    public var requestsInFlight = 512
    /// The number of requests that may wait for a place.
    public var requestsWaiting = 64

    /// Creates the default settings.
    public init() {}

    /// Reads the settings.
    init(_ settings: inout SettingReader) {
        requestsInFlight = settings.integer("REQUESTS_IN_FLIGHT", in: 1...100_000, default: requestsInFlight)
        requestsWaiting = settings.integer("REQUESTS_WAITING", in: 0...10_000, default: requestsWaiting)
    }
}

/// The storage of idempotency keys and their responses.
public struct IdempotencySettings: Sendable {
    /// The time for which a response is repeated.
    public var lifetime = Duration.seconds(86_400)
    /// The largest number of keys; one client can have a hundredth of them.
    public var keys = 100_000

    /// Creates the default settings.
    public init() {}

    /// Reads the settings.
    init(_ settings: inout SettingReader) {
        lifetime = settings.hours("IDEMPOTENCY_KEY_HOURS", in: 0.05...168, default: lifetime)
        keys = settings.integer("IDEMPOTENCY_KEYS", in: 1_000...10_000_000, default: keys)
    }

    var bounds: IdempotencyBounds { IdempotencyBounds(keys: keys, keysPerClient: keys / 100) }
}
