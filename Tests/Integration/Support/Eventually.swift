/// Waits until a condition is true that a background worker brings about.
func eventually(_ holds: () async throws -> Bool) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now.advanced(by: .seconds(60))
    while try await !holds() {
        guard clock.now < deadline else { throw RawHTTP.Failure(description: "a minute was not enough") }
        await Task.yield()
    }
}
