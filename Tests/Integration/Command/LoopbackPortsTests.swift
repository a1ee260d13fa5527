import HoldfastTesting
import Testing

@testable import HoldfastCommand

@Suite struct LoopbackPortsTests {
    @Test("The demo gets different ports")
    func different() throws {
        let ports = try LoopbackPorts.free(5)
        #expect(Set(ports).count == 5)
        #expect(ports.allSatisfy(LoopbackPorts.range.contains))
    }

    @Test("The demo gets no port on which a program listens")
    func taken() async throws {
        // A server without steps stops listening at once.
        try await LoopbackServer.run([.hangUp]) { server, _ in
            let port = server.port
            #expect(throws: DemoStory.Unexpected.self) { try LoopbackPorts.free(1, in: port..<port + 1) }
        }
    }
}
