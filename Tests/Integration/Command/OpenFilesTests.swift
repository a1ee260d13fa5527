import Attacks
import Foundation
import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite(.timeLimit(.minutes(10))) struct OpenFilesTests {
    @Test("Closes idle connections so that the server keeps file descriptors for its work")
    func few() async throws {
        try await withFolder { folder in
            let limit = 74
            try await Binary.serve(openFiles: 256 + limit, in: folder, endingWith: SIGTERM) { url, _ in
                let connections = HeldConnections(to: url)
                try connections.open(limit + 50, sending: "GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n")
                try await eventually { connections.answered() == limit + 50 }
                try await eventually { connections.count - connections.closedByServer() <= limit }
                #expect(try await RawHTTP.send("GET", "/health/ready", to: url).status == 200)
            }
        }
    }
}
