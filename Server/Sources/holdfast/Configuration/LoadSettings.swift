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
