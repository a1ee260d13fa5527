import Foundation
import GRDB
import Testing

@Suite(.timeLimit(.minutes(30))) struct NotesKillTests {
    @Test("Adds each note of the notes app exactly once despite random kills")
    func exactlyOnce() async throws {
        try await withFolder { folder in
            let data = folder.appending(path: "data")
            let app = KilledProgram(
                "holdfast-notes-app",
                ["--port", "0", "--deadline", "1", "--lease", "2", "--data", data.path],
                in: folder
            )
            let count = try await app.run(kills: rounds(12)) { number in
                let body = #"{"title":"Note \#(number)","items":[]}"#
                let answer = try await app.send("/notes", body, headers: ["Idempotency-Key: key-\(number)"])
                #expect(answer.status == 201, "\(answer.text)")
            }
            let file = try DatabaseQueue(path: data.appending(path: "notes.sqlite3").path)
            let titles = try await file.read { database in
                try String.fetchAll(database, sql: "SELECT json_extract(CAST(json AS TEXT), '$.title') FROM note WHERE id > 1")
            }
            #expect(titles.count == count)
            #expect(Set(titles) == Set((0..<count).map { "Note \($0)" }))
            print("\(rounds(12)) kills: \(count) notes")
        }
    }
}
