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

/// How long keys of repeated requests are stored, and how much room they have.
public struct IdempotencySettings: Sendable {
    /// How long a response is sent again.
    public var lifetime = Duration.seconds(86_400)
    /// The megabytes (2^20 bytes) of all keys; see `IdempotencyBounds` for the shares of clients.
    public var megabytes = 1_024

    /// Creates the default settings.
    public init() {}

    /// Reads the settings.
    init(_ settings: inout SettingReader) {
        lifetime = settings.hours("IDEMPOTENCY_KEY_HOURS", in: 0.05...168, default: lifetime)
        megabytes = settings.integer("IDEMPOTENCY_MEGABYTES", in: 1...1_048_576, default: megabytes)
    }

    var bounds: IdempotencyBounds { IdempotencyBounds(bytes: megabytes << 20) }
}
