import Foundation

/// Runs the same brown-out for each fleet with each kind of client, and prints a table. An argument selects rows by a part of their names.
@main struct BrownOut {
    static func main() async throws {
        // Three thousand requests per second that get no response for two seconds, each with a socket on both sides.
        try Descriptors.allow(16_384)
        tell(
            "| fleet | client | attempts per call | goodput of the ideal | success in the 3 s after | in the 5 s after | 99 % after |"
        )
        tell("|---|---|---|---|---|---|---|")
        let part = CommandLine.arguments.dropFirst().first ?? ""
        for fleet in Fleet.all {
            for contender in Contender.all where part.isEmpty || "\(fleet.name), \(contender.name)".contains(part) {
                let story = try await fleet.run(contender)
                let recovered = story.secondsToRecover.map { "\($0) s" } ?? "more than 15 s"
                let after = [Duration.seconds(3), .seconds(5)].map { percent(story.success(from: .zero, to: $0)) }
                tell(
                    "| \(fleet.name) | \(contender.name) | \(String(format: "%.2f", story.attemptsPerCall)) | \(percent(story.goodput))"
                        + " | \(after.joined(separator: " | ")) | \(recovered) |"
                )
            }
        }
    }

    /// Writes a line immediately, so that the user sees the progress.
    private static func tell(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    private static func percent(_ part: Double) -> String { "\(Int((part * 100).rounded())) %" }
}
