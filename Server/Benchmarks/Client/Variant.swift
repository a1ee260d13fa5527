import Foundation
import HTTPTypes
import ResilientHTTP

/// One way to make a call; it returns how many bytes came.
struct Variant: Sendable {
    var name: String
    var call: @Sendable () async throws -> Int
}

/// An engine: by itself, through our transport, through the client with all defaults.
struct Family: Sendable {
    var name: String
    var variants: [Variant]

    init(name: String, bare: @escaping @Sendable () async throws -> Int, transport: some HTTPTransport, url: URL) {
        let request = HTTPRequest(
            method: .get,
            scheme: "http",
            authority: "\(url.host() ?? ""):\(url.port ?? 80)",
            path: "/api/activities/17"
        )
        let client = APIClient(baseURL: url, transport: transport, middleware: ClientPipeline.standard())
        self.name = name
        variants = [
            Variant(name: "bare", call: bare),
            Variant(name: "our transport") {
                try await transport.send(request, body: nil, timeout: .seconds(10)).1.collect(upTo: 65_536).bytes.count
            },
            Variant(name: "client, all defaults") { try await client.send(.get, "/api/activities/17").body.count },
        ]
    }
}
