import ErrorContract
import Foundation
import HTTPTypes
import ResilientHTTP

extension EverydayTasks {
    private static let note = #"{"id":1,"title":"a"}"#

    /// Runs a body with a client of a server that returns a note, and expects the request that it makes.
    private static func withNote(
        over transport: any HTTPTransport,
        expecting line: String,
        _ sent: String = "",
        body: (APIClient) async throws -> Void
    ) async throws {
        try await withClient(over: transport) { _ in
            response(body: note)
        } body: { api, server in
            try await body(api)
            let received = server.received.first
            try TransportCheck.expect(
                received?.line == line && received?.text == sent,
                "sent \(received.map { "\($0)" } ?? "nothing")"
            )
        }
    }

    static let verbs: [TransportCheck] = [
        TransportCheck("Gets a value") { transport in
            try await withNote(over: transport, expecting: "GET /notes/1") { api in
                // snippet: task-get
                let note: Note = try await api.get("/notes/1")
                // snippet end
                try TransportCheck.expect(note == Note(id: 1, title: "a"), "read \(note)")
            }
        },
        TransportCheck("Posts a value, safe to repeat") { transport in
            try await withClient(over: transport) { _ in
                response("201 Created", body: note)
            } body: { api, server in
                let draft = ["title": "a"]
                // snippet: task-post
                let note: Note = try await api.post("/notes", draft, options: .idempotent)
                // snippet end
                let received = server.received.first
                try TransportCheck.expect(note.id == 1 && received?.line == "POST /notes", "read \(note)")
                try TransportCheck.expect(received?.header("Idempotency-Key")?.count == 34, "sent \(received?.head ?? [])")
            }
        },
        TransportCheck("Puts a value in the place of another") { transport in
            try await withNote(over: transport, expecting: "PUT /notes/1", note) { api in
                // snippet: task-put
                let changed = Note(id: 1, title: "a")
                let saved: Note = try await api.put("/notes/1", changed)
                // snippet end
                try TransportCheck.expect(saved == changed, "read \(saved)")
            }
        },
        TransportCheck("Patches a value") { transport in
            try await withNote(over: transport, expecting: "PATCH /notes/1", #"{"title":"a"}"#) { api in
                // snippet: task-patch
                let note: Note = try await api.patch("/notes/1", ["title": "a"])
                // snippet end
                try TransportCheck.expect(note.title == "a", "read \(note)")
            }
        },
        TransportCheck("Deletes a value") { transport in
            try await withNote(over: transport, expecting: "DELETE /notes/1") { api in
                // snippet: task-delete
                try await api.delete("/notes/1")
                // snippet end
            }
        },
        TransportCheck("Gets the head of a response") { transport in
            try await withClient(over: transport) { _ in
                .keep("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n")
            } body: { api, _ in
                // snippet: task-head
                let head = try await api.head("/files/report.pdf")
                let size = head.headerFields[.contentLength].flatMap { Int($0) }
                // snippet end
                try TransportCheck.expect(size == 900, "read \(head)")
            }
        },
    ]
}
