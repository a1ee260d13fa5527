import Idempotency
import ServerMiddleware

/// How many requests are worked on at once.
public struct LoadSettings: Sendable {
    /// How many.
    public var requestsInFlight = 512
    /// How many more may wait for one of them to end.
    public var requestsWaiting = 64

    /// The usual settings.
    public init() {}

    /// Reads the settings.
    init(_ settings: inout SettingReader) {
        requestsInFlight = settings.integer("REQUESTS_IN_FLIGHT", in: 1...100_000, default: requestsInFlight)
        requestsWaiting = settings.integer("REQUESTS_WAITING", in: 0...10_000, default: requestsWaiting)
    }
}

/// How long and how many keys of repeated requests are kept.
public struct IdempotencySettings: Sendable {
    /// How long an answer is repeated.
    public var lifetime = Duration.seconds(86_400)
    /// How many keys there are at most; one client has a hundredth of them.
    public var keys = 100_000

    /// The usual settings.
    public init() {}

    /// Reads the settings.
    init(_ settings: inout SettingReader) {
        lifetime = settings.hours("IDEMPOTENCY_KEY_HOURS", in: 0.05...168, default: lifetime)
        keys = settings.integer("IDEMPOTENCY_KEYS", in: 1_000...10_000_000, default: keys)
    }

    var bounds: IdempotencyBounds { IdempotencyBounds(keys: keys, keysPerClient: keys / 100) }
}
