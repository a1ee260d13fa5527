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
                // Few at a time: on a slow machine, a connection whose request the server has not read yet would count as idle.
                for opened in stride(from: 4, through: limit + 50, by: 4) {
                    try connections.open(4, sending: "GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n")
                    try await eventually { connections.answered() == opened }
                }
                try await eventually { connections.count - connections.closedByServer() <= limit }
                #expect(try await RawHTTP.send("GET", "/health/ready", to: url).status == 200)
            }
        }
    }
}
