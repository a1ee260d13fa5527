import ErrorContract
import Foundation
import HoldfastTesting
import Synchronization
import Testing

@testable import OfflineQueue

@Suite("Restored and newer files of a queue", .timeLimit(.minutes(5))) struct CopyAndVersionTests {
    @Test("Sends nothing of a restored backup until the app adopts it")
    func restoredBackup() async throws {
        let bench = try await QueueBench { $0.deviceID = "phone" }
        try await bench.enqueue("1")
        try await bench.enqueue("2")
        let backup = bench.disk.state.withLock(\.self)
        await bench.drain()
        #expect(bench.server.bodies == ["1", "2"])
        bench.kill()
        bench.disk.state.withLock { $0 = backup }

        let restored = try await QueueBench(sharing: bench) { $0.deviceID = "another phone" }
        #expect(restored.queue.isRestored)
        for _ in 0..<3 { await restored.pass(.seconds(60)) }
        #expect(restored.server.requests.count == 2)
        #expect(restored.queue.counts.pending == 2 && !restored.queue.hasRequestsToSend)
        try await restored.queue.adopt()
        #expect(restored.queue.hasRequestsToSend)
        await restored.drain()
        // The server recognizes the keys.
        #expect(restored.server.requests.count == 4)
        #expect(restored.server.bodies == ["1", "2"])
        #expect(restored.queue.counts.pending == 0)
    }

    @Test("Lets the app discard the requests of a restored backup")
    func discardedBackup() async throws {
        let bench = try await QueueBench { $0.deviceID = "phone" }
        try await bench.enqueue("1")
        bench.kill()
        let restored = try await QueueBench(sharing: bench) { $0.deviceID = "another phone" }
        try await restored.queue.adopt()
        for owner in restored.queue.owners { try await restored.queue.discard(owner: owner) }
        await restored.pass()
        #expect(restored.server.requests.isEmpty && restored.queue.counts.pending == 0)
    }

    @Test("Leaves a queue that a newer version of the app has written as it is")
    func newerVersion() async throws {
        let bench = try await QueueBench()
        try await bench.enqueue("1")
        bench.kill()
        // The version in the header.
        bench.disk.state.withLock { state in
            for number in state.names.filter({ $0.key.hasSuffix("/journal") }).values { state.files[number]?.bytes[8] = 2 }
        }
        let bytes = bench.disk.state.withLock { $0.files.mapValues(\.bytes) }

        let older = try await QueueBench(sharing: bench)
        await #expect { try await older.enqueue("2") } throws: {
            if case QueueError.storage(JournalError.newerVersion(2)) = $0 { true } else { false }
        }
        for _ in 0..<3 { await older.pass(.seconds(60)) }
        #expect(older.server.requests.isEmpty)
        #expect(bench.disk.state.withLock { $0.files.mapValues(\.bytes) } == bytes)
    }
}
