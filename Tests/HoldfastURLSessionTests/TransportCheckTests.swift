import HoldfastTesting
import HoldfastURLSession
import Testing

@Suite(.timeLimit(.minutes(10))) struct TransportCheckTests {
    @Test("URLSession passes every check of a transport", arguments: TransportCheck.all)
    func passes(_ check: TransportCheck) async throws {
        try await check.run(URLSessionTransport())
    }
}
