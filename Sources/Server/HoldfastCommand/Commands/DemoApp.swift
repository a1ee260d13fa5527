import ArgumentParser
import Foundation
import HTTPTypes
import HoldfastURLSession
import OfflineQueue
import ResilientHTTP

/// `holdfast demo-app`: an app without a user interface. It stores notes in an offline queue and sends them. The demo and the tests kill
/// the app, to show that no note is lost.
struct DemoApp: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo-app",
        abstract: "Store notes in an offline queue and send them, until the process is killed.",
        discussion: """
            Prints 'pending N' after the queue was opened. Later prints 'stored TITLE' for each stored note, and 'delivered ID' for each
            sent note.
            """,
        shouldDisplay: false
    )

    @Option(help: "The folder of the queue.")
    var queue: String

    @Option(help: "The address of the server, which stores a note at POST /notes.")
    var url: String

    @Option(help: "The title of a note to store; may be repeated.")
    var note: [String] = []

    @Option(help: "Store notes endlessly; each title is NAME, the lane and a number.")
    var endless: String?

    @Flag(help: "End when no request is pending.")
    var untilEmpty = false

    /// A note, as the server decodes it.
    private struct Note: Encodable {
        let title: String
        let items: [String] = []
    }

    /// Opens the queue, stores the notes, and sends them until the process is killed or the queue is empty.
    func run() async throws {
        guard let url = URL(string: url) else { throw ValidationError("--url must be an address") }
        // The queue repeats requests itself. A circuit breaker and retries of the client would only delay the demo.
        let client = APIClient(
            baseURL: url,
            transport: .urlSession(),
            timeout: .seconds(5),
            middleware: ClientPipeline.standard(retry: RetryMiddleware(.never), breaker: nil)
        )
        var options = OfflineQueue.Options()
        options.lease = .milliseconds(500)
        options.backoff = Backoff(base: .milliseconds(50), cap: .milliseconds(500))
        let queue = try await OfflineQueue.open(URL(filePath: queue), client: client, options: options)
        Terminal.say("pending \(queue.counts.pending)")
        for title in note { try await store(title, "demo", in: queue) }
        let events = queue.events
        try await withThrowingTaskGroup { group in
            group.addTask { await queue.run() }
            group.addTask {
                for await event in events {
                    if case .delivered(let id) = event { Terminal.say("delivered \(id)") }
                }
            }
            if let endless {
                group.addTask {
                    for number in 0... {
                        let lane = "lane \(number % 4)"
                        try await store("\(endless), \(lane), \(number)", lane, in: queue)
                        try await Task.sleep(for: .milliseconds(25))
                    }
                }
            }
            if untilEmpty {
                while queue.counts.pending > 0 { try await Task.sleep(for: .milliseconds(20)) }
                group.cancelAll()
            }
            try await group.waitForAll()
        }
    }

    /// Stores a note. When the line is printed, the note is on disk.
    private func store(_ title: String, _ lane: String, in queue: OfflineQueue) async throws {
        try await queue.enqueue(.post, "/notes", Note(title: title), options: .queued(lane: lane))
        Terminal.say("stored \(title)")
    }
}
