import ErrorContract
import Foundation
import HTTPTypes
import ResilientHTTP

extension EverydayTasks {
    static let requests: [TransportCheck] = [
        TransportCheck("Sends query items as they are") { transport in
            try await withClient(over: transport) { _ in
                response(body: "[]")
            } body: { api, server in
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
            try await withClient(over: transport) { _ in
                response(body: #"{"id":1,"title":"a"}"#)
            } body: { api, server in
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
            try await withClient(over: transport) { _ in
                response(body: body)
            } body: { client, _ in
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
