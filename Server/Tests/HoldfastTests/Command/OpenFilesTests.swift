import Foundation
import Testing

@testable import holdfast

@Suite(.timeLimit(.minutes(2))) struct OpenFilesTests {
    @Test("Connections leave the server the files that it works with; those above wait, and are answered when others end")
    func few() async throws {
        try await withFolder { folder in
            let limit = 74
            try await Binary.serve(openFiles: 256 + limit, in: folder, endingWith: SIGTERM) { url, _ in
                let connections = HeldConnections(to: url)
                try connections.open(limit + 50, sending: "GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n")
                try await eventually { connections.answered() >= limit }
                // Time enough for the others, if they were let in: a whole other process, with the database.
                #expect(try await Binary.run(["users", "list"], in: folder).status == 0)
                // Some come in with the last one.
                #expect(connections.answered() < limit + 16)
                connections.closeAnswered(limit)
                try await eventually { connections.answered() == 50 }
            }
        }
    }
}
