import DataServerTesting
import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

/// An app with an offline queue and its server, both of which are killed.
@Suite(.timeLimit(.minutes(60))) struct QueueKillTests {
    @Test("Performs each mutation exactly once, in order, despite kills of app and server")
    func exactlyOnce() async throws {
        let kills = rounds(8)
        try await withFolder { folder in
            let port = try freePort()
            let data = folder.appending(path: "data")
            let server = KilledProgram(
                "holdfast-notes-app",
                ["--port", "\(port)", "--deadline", "1", "--lease", "2", "--data", data.path],
                in: folder
            )
            try await server.start()
            defer { server.kill() }
            let isOver = Atomic(false)
            let outages = Task {
                while !isOver.load(ordering: .relaxed) {
                    try await Task.sleep(for: .milliseconds(.random(in: 100...1_500)))
                    server.kill()
                    try await Task.sleep(for: .milliseconds(.random(in: 0...800)))
                    try await server.start()
                }
            }
            var stored: Set<String> = []
            for round in 0..<kills {
                stored.formUnion(try await run(round, in: folder, port: port))
            }
            isOver.store(true, ordering: .relaxed)
            // The server runs afterwards.
            try await outages.value
            let arguments = ["demo-app", "--queue", folder.appending(path: "queue").path, "--url", "http://127.0.0.1:\(port)"]
            let last = try await Binary.run(arguments + ["--until-empty"], in: folder)
            #expect(last.status == 0, "\(last.errors)")

            let file = try DatabaseQueue(path: data.appending(path: "notes.sqlite3").path)
            let titles = try await file.read { database in
                try String.fetchAll(
                    database,
                    sql: "SELECT json_extract(CAST(json AS TEXT), '$.title') FROM note WHERE id > 1 ORDER BY id"
                )
            }
            #expect(Set(titles).count == titles.count, "performed twice")
            #expect(stored.subtracting(titles).isEmpty, "lost")
            expectOrder(titles)
            print("\(kills) kills: \(stored.count) stored mutations, \(titles.count) performed")
        }
    }

    /// Runs the app until it is killed.
    /// - Returns: The titles of the notes that it has stored.
    private func run(_ round: Int, in folder: URL, port: Int) async throws -> [String] {
        let log = folder.appending(path: "app-\(round).log")
        let app = try ServerProcess.start(
            try Binary.path(of: "holdfast"),
            [
                "demo-app", "--queue", folder.appending(path: "queue").path, "--url", "http://127.0.0.1:\(port)", "--endless",
                "\(round)",
            ],
            log: log
        )
        defer { app.stop() }
        // Most of the kills while requests are stored and sent, some while the queue is opened.
        if round % 8 > 0 {
            try await eventually { (try? String(contentsOf: log, encoding: .utf8))?.contains("stored") == true }
        }
        try await Task.sleep(for: .microseconds(.random(in: 0...600_000)))
        app.stop()
        let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        // The last line may be incomplete.
        return lines.dropLast().filter { $0.hasPrefix("stored ") }.map { String($0.dropFirst("stored ".count)) }
    }

    /// Expects the notes of each lane in the order in which the runs of the app stored them.
    private func expectOrder(_ titles: [String]) {
        var lanes: [String: [[Int]]] = [:]
        for title in titles {
            let parts = title.split(separator: ", ").map(String.init)
            lanes[parts[1], default: []].append([Int(parts[0]) ?? -1, Int(parts[2]) ?? -1])
        }
        for (lane, numbers) in lanes {
            #expect(numbers == numbers.sorted { $0.lexicographicallyPrecedes($1) }, "\(lane) is out of order")
        }
    }
}
