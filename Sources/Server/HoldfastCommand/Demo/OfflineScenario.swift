import Foundation

/// The last part of the demo: an app without a network is killed with SIGKILL and started again.
struct OfflineScenario {
    private static let titles = ["Milk", "Bread", "Salt"]
    /// Numbers and prints the steps.
    let steps: Steps
    /// The temporary folder of the queue, the database and the logs.
    let folder: URL
    private let port: Int

    /// Chooses a free port, on which no server listens at first.
    init(steps: Steps, in folder: URL) throws {
        (self.steps, self.folder) = (steps, folder)
        port = try LoopbackPorts.free(1)[0]
    }

    /// Runs all steps.
    /// - Throws: ``DemoStory/Unexpected`` at the first step with an unexpected result.
    func run() async throws {
        let app = try await start("first", notes: Self.titles)
        let second: DemoProcess
        do {
            try await steps.run("An app stores \(Self.titles.count) notes while no server listens") {
                try await output("first") { $0.contains("stored \(Self.titles[2])") }
                return "\(Self.titles.joined(separator: ", ")): each on disk before the app continued"
            }
            try await steps.run("kill -9 of the app's process") {
                await app.end(SIGKILL)
                return "process \(app.id) is gone, before it could send anything"
            }
            second = try await start("second", notes: [])
        } catch {
            await app.end(SIGKILL)
            throw error
        }
        do {
            try await steps.run("The app starts again") {
                try await output("second") { $0.contains("pending \(Self.titles.count)") }
                return "process \(second.id) finds \(Self.titles.count) pending requests"
            }
            let ledger = try await DemoLedger(folder)
            try await ledger.serve(port: port) {
                try await steps.run("The server is back") {
                    try await output("second") { lines in
                        lines.count { $0.hasPrefix("delivered") } == Self.titles.count
                    }
                    let titles = try await ledger.titles
                    try expect(titles == Self.titles, "the server has \(titles)")
                    let numbered = titles.enumerated().map { "\($0.offset + 1) \($0.element)" }.joined(separator: ", ")
                    let count = "\(Self.titles.count) stored, \(titles.count) performed"
                    return "the server's ledger: \(numbered); \(count), each once, in order"
                }
                await second.end(SIGKILL)
            }
        } catch {
            await second.end(SIGKILL)
            throw error
        }
    }

    /// Starts this program as an app that stores notes, in another process.
    private func start(_ name: String, notes: [String]) async throws -> DemoProcess {
        guard let program = Bundle.main.executablePath else {
            throw DemoStory.Unexpected(description: "the path of the command is unknown")
        }
        let queue = folder.appending(path: "queue").path
        let command = [program, "demo-app", "--queue", queue, "--url", "http://127.0.0.1:\(port)"]
        return try await DemoProcess.start(command + notes.flatMap { ["--note", $0] }, in: folder, log: log(name))
    }

    /// Returns the file with the output of a process.
    private func log(_ name: String) -> URL { folder.appending(path: "\(name).log") }

    /// Waits until the printed lines of a process satisfy a condition.
    private func output(_ name: String, _ condition: ([String]) -> Bool) async throws {
        var lines: [String] = []
        for _ in 0..<6_000 {
            let text = (try? String(contentsOf: log(name), encoding: .utf8)) ?? ""
            lines = text.split(separator: "\n").map(String.init)
            if condition(lines) { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        let end = lines.suffix(10).joined(separator: " | ")
        throw DemoStory.Unexpected(description: "after a minute, the app has printed: \(end)")
    }
}
