/// Waits until a condition is true that a background worker or another process brings about.
///
/// The pause between two checks grows to a tenth of a second, and leaves the processor to the server. The limit only ends a test that would
/// never end; a slow machine needs minutes for what takes seconds on a fast one.
/// - Throws: `RawHTTP.Failure` after five minutes.
func eventually(_ holds: () async throws -> Bool) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now.advanced(by: .seconds(300))
    var pause = Duration.milliseconds(5)
    while try await !holds() {
        guard clock.now < deadline else { throw RawHTTP.Failure(description: "five minutes were not enough") }
        try await clock.sleep(for: pause)
        pause = min(pause * 3 / 2, .milliseconds(100))
    }
}
