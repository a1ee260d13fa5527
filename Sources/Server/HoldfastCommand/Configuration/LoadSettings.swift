import ServerMiddleware

/// How many requests are worked on at once.
struct LoadSettings: Sendable {
    /// How many.
    var requestsInFlight = 512
    /// How many more may wait for one of them to end.
    var requestsWaiting = 64

    /// The usual settings.
    init() {}

    /// Reads the settings.
    init(_ settings: inout SettingReader) {
        requestsInFlight = settings.integer("REQUESTS_IN_FLIGHT", in: 1...100_000, default: requestsInFlight)
        requestsWaiting = settings.integer("REQUESTS_WAITING", in: 0...10_000, default: requestsWaiting)
    }
}

extension ConnectionLimits {
    /// Reads the settings of connections.
    init(_ settings: inout SettingReader) {
        let idleSeconds = settings.integer("IDLE_TIMEOUT_SECONDS", in: 1...3_600, default: 60)
        self.init(
            capacity: settings.integer("MAX_CONNECTIONS", in: 16...65_536, default: 4_096),
            perClient: settings.integer("MAX_CONNECTIONS_PER_CLIENT", in: 1...65_536, default: 128),
            headTime: .seconds(settings.integer("HEADER_TIMEOUT_SECONDS", in: 1...600, default: 10)),
            idleTime: .seconds(idleSeconds),
            crowdedIdleTime: min(.seconds(15), .seconds(idleSeconds)),
            writeTime: .seconds(settings.integer("WRITE_TIMEOUT_SECONDS", in: 1...600, default: 30))
        )
    }
}
