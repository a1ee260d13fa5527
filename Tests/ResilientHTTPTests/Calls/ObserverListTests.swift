import Foundation
import HoldfastTesting
import Synchronization
import Testing

@testable import ResilientHTTP

@Suite("Observers of a session and of the connectivity", .timeLimit(.minutes(1))) struct ObserverListTests {
    @Test("A session removes the closures of observers and caches that were released")
    func session() throws {
        let session = Session(store: MemoryCredentialStore(), refresh: { _ in .number(2) })
        let url = try #require(URL(string: "https://api.example.org"))
        var client = APIClient(baseURL: url, transport: ScriptedTransport([]), session: session)
        for _ in 0..<10 {
            session.onChange(of: Counter()) { _, _ in }
            client.cache = MemoryResponseCache()
        }
        // The last registration removed the closures of all earlier objects.
        #expect(session.observers.withLock(\.count) == 1)
        #expect(session.endings.withLock(\.count) == 1)
    }

    @Test("The connectivity removes the closures of observers that were released")
    func connectivity() {
        let connectivity = Connectivity()
        let observer = Counter()
        connectivity.onChange(of: observer) { observer, _ in observer.increment() }
        for _ in 0..<10 { connectivity.onChange(of: Counter()) { _, _ in } }
        #expect(connectivity.observerCount == 2)
        connectivity.report(isOnline: false)
        #expect(observer.value == 1)
    }
}
