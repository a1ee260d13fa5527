import ErrorContract
import Foundation
import HTTPTypes
import ResilientHTTP

extension EverydayTasks {
    static let responses: [TransportCheck] = [
        TransportCheck("Reads the details of the app's own errors") { transport in
            try await withClient(over: transport) { _ in
                response("409 Conflict", body: #"{"error":{"code":"STOCK_EMPTY","details":{"available":3}}}"#)
            } body: { api, _ in
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
            try await withClient(over: transport) { _ in
                response("304 Not Modified", ["ETag: \"v1\""])
            } body: { api, _ in
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
