import ErrorContract
import Foundation
import HTTPTypes
import ResilientHTTP

extension EverydayTasks {
    /// The JSON of a ``Note``.
    private static let note = #"{"id":1,"title":"a"}"#

    /// Runs a closure with a client whose server returns a note to each request. Then checks the first request that the server received.
    /// - Parameters:
    ///   - transport: The transport under test.
    ///   - line: The method and the path of the request, such as `GET /notes/1`.
    ///   - sent: The body of the request.
    ///   - body: Uses the client.
    /// - Throws: `TransportCheck.Violation` if the request differs; errors of the body.
    private static func withNote(
        over transport: any HTTPTransport,
        expecting line: String,
        _ sent: String = "",
        body: (APIClient) async throws -> Void
    ) async throws {
        try await withClient(over: transport, step: response(body: note)) { api, server in
            try await body(api)
            let received = server.received.first
            try TransportCheck.expect(
                received?.line == line && received?.text == sent,
                "sent \(received.map { "\($0)" } ?? "nothing")"
            )
        }
    }

    /// One call for each HTTP method. Each task checks the request line and the body that arrive, and the decoded value.
    ///
    /// `post` is marked as idempotent, so the request must have an `Idempotency-Key` of 32 characters in quotes. The response to `head` has
    /// a `Content-Length` but no body, so a transport must not wait for a body.
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
            try await withClient(over: transport, step: response("201 Created", body: note)) { api, server in
                let draft = ["title": "a"]
                // snippet: task-post
                let note: Note = try await api.post("/notes", draft, options: .idempotent)
                // snippet end
                let received = server.received.first
                try TransportCheck.expect(note.id == 1 && received?.line == "POST /notes", "read \(note)")
                try TransportCheck.expect(received?.header("Idempotency-Key")?.count == 34, "sent \(received?.head ?? [])")
            }
        },
        TransportCheck("Replaces a value with a PUT") { transport in
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
            try await withClient(over: transport, step: .keep("HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n")) { api, _ in
                // snippet: task-head
                let head = try await api.head("/files/report.pdf")
                let size = head.headerFields[.contentLength].flatMap { Int($0) }
                // snippet end
                try TransportCheck.expect(size == 900, "read \(head)")
            }
        },
    ]
}

extension EverydayTasks {
    /// Calls with queries, with header fields, and with JSON keys in snake case.
    ///
    /// The query contains a space, `&`, `+` and a letter beyond ASCII. A transport must send the query as the client encoded it. The header
    /// fields of the call replace the default header fields of the client and of the transport.
    static let requests: [TransportCheck] = [
        TransportCheck("Sends query items as they are") { transport in
            try await withClient(over: transport, step: response(body: "[]")) { api, server in
                // snippet: task-query
                let notes: [Note] = try await api.get(
                    "/notes",
                    query: [
                        URLQueryItem(name: "q", value: "salt & pepper+ñ"),
                        URLQueryItem(name: "limit", value: "20"),
                    ]
                )
                // snippet end
                let line = server.received.first?.line
                try TransportCheck.expect(
                    line == "GET /notes?q=salt%20%26%20pepper%2B%C3%B1&limit=20" && notes.isEmpty,
                    "sent \(line ?? "")"
                )
            }
        },
        TransportCheck("Sends headers of the call") { transport in
            try await withClient(over: transport, step: response(body: #"{"id":1,"title":"a"}"#)) { api, server in
                // snippet: task-headers
                let note: Note = try await api.get(
                    "/notes/1",
                    headers: [.accept: "application/vnd.example.v2+json", .userAgent: "Notes/1.0"]
                )
                // snippet end
                let received = server.received.first
                try TransportCheck.expect(
                    received?.header("Accept") == "application/vnd.example.v2+json" && note.id == 1,
                    "\(received?.head ?? [])"
                )
                try TransportCheck.expect(received?.header("User-Agent") == "Notes/1.0", "\(received?.head ?? [])")
            }
        },
        TransportCheck("Reads snake case and dates with fractional seconds") { transport in
            let body = #"{"created_at":"2025-11-04T10:30:00.250Z","display_name":"a"}"#
            try await withClient(over: transport, step: response(body: body)) { client, _ in
                var api = client
                // snippet: task-snake-case
                struct Profile: Decodable {
                    var displayName: String
                    var createdAt: Date
                }
                api.coding = .snakeCase
                let profile: Profile = try await api.get("/profile")
                // snippet end
                try TransportCheck.expect(profile.displayName == "a", "read \(profile)")
                try TransportCheck.expect(profile.createdAt == Date(timeIntervalSince1970: 1_762_252_200.25), "read \(profile)")
            }
        },
    ]
}

extension EverydayTasks {
    /// Calls that read the details of an error, conditional responses (304), and pages of a list.
    ///
    /// If a transport has its own cache, the tasks with conditional requests fail, because the cache hides the 304 from the client. Turn
    /// the transport's cache off.
    static let responses: [TransportCheck] = [
        TransportCheck("Reads the details of the app's own errors") { transport in
            try await withClient(
                over: transport,
                step: response("409 Conflict", body: #"{"error":{"code":"STOCK_EMPTY","details":{"available":3}}}"#)
            ) { api, _ in
                let order = ["amount": 5]
                var left: Int?
                // snippet: task-error-details
                struct Stock: Decodable { var available: Int }
                do throws(APIError) {
                    try await api.post("/orders", order)
                } catch {
                    if error.code.rawValue == "STOCK_EMPTY" { left = try? error.details(as: Stock.self).available }
                }
                // snippet end
                try TransportCheck.expect(left == 3, "read \(left.map { "\($0)" } ?? "nothing")")
            }
        },
        TransportCheck("Downloads a response again only if it changed") { transport in
            try await withClient(over: transport) { request in
                request.header("If-None-Match") == "\"v1\""
                    ? response("304 Not Modified", ["ETag: \"v1\""])
                    : response("200 OK", ["ETag: \"v1\""], body: #"{"id":1,"title":"a"}"#)
            } body: { client, server in
                var api = client
                // snippet: task-conditional-get
                api.cache = MemoryResponseCache()
                let first: Note = try await api.get("/notes/1")
                let again: APIResponse<Note> = try await api.response(.get, "/notes/1")
                if again.isNotModified { print("still \(again.value.title)") }
                // snippet end
                try TransportCheck.expect(first == again.value && again.isNotModified, "read \(again)")
                try TransportCheck.expect(
                    server.received.map { $0.header("If-None-Match") } == [nil, "\"v1\""],
                    "\(server.received.map(\.head))"
                )
            }
        },
        TransportCheck("Returns a 304 to a caller that sent its own condition") { transport in
            try await withClient(over: transport, step: response("304 Not Modified", ["ETag: \"v1\""])) { api, _ in
                let knownTag = "\"v1\""
                // snippet: task-not-modified
                let (response, body) = try await api.send(.get, "/notes", headers: [.ifNoneMatch: knownTag])
                if response.isNotModified { print("nothing new") }
                // snippet end
                try TransportCheck.expect(response.status == .notModified && body.isEmpty, "read \(response)")
            }
        },
        TransportCheck("Reads a list page by page") { transport in
            try await withClient(over: transport) { request in
                let isFirst = request.line == "GET /notes"
                let link = isFirst ? ["Link: </notes?page=2>; rel=\"next\""] : []
                return response("200 OK", link, body: #"[{"id":\#(isFirst ? 1 : 2),"title":"a"}]"#)
            } body: { api, _ in
                // snippet: task-pages
                var notes: [Note] = []
                for try await note in api.pages("/notes", of: [Note].self, by: .link).items() {
                    notes.append(note)
                }
                // snippet end
                try TransportCheck.expect(notes.map(\.id) == [1, 2], "read \(notes)")
            }
        },
    ]
}
