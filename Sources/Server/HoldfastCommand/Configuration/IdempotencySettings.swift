import Idempotency

/// How long and how many keys of repeated requests are kept.
struct IdempotencySettings: Sendable {
    /// How long an answer is repeated.
    var lifetime = Duration.seconds(86_400)
    /// How many keys there are at most; one client has a hundredth of them.
    var keys = 100_000

    /// The usual settings.
    init() {}

    /// Reads the settings.
    init(_ settings: inout SettingReader) {
        lifetime = settings.hours("IDEMPOTENCY_KEY_HOURS", in: 0.05...168, default: lifetime)
        keys = settings.integer("IDEMPOTENCY_KEYS", in: 1_000...10_000_000, default: keys)
    }

    var bounds: IdempotencyBounds { IdempotencyBounds(keys: keys, keysPerClient: keys / 100) }
}
