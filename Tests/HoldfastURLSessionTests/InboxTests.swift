import Synchronization
import Testing

@testable import HoldfastURLSession

@Suite(.timeLimit(.minutes(10))) struct InboxTests {
    @Test("Pauses at the limit, and continues when less than half of it is unread")
    func pauses() async throws {
        let changes = Mutex<[Bool]>([])
        func recorded() -> [Bool] { changes.withLock { $0 } }
        let inbox = Inbox(limit: 4) { isPaused in changes.withLock { $0.append(isPaused) } }
        for (first, last) in [([1, 2, 3], [4]), ([5, 6, 7], [8])] as [([UInt8], [UInt8])] {
            changes.withLock { $0 = [] }
            inbox.deliver(first)
            #expect(recorded() == [])
            inbox.deliver(last)
            #expect(recorded() == [true])
            // On Linux, these bytes go to a file.
            inbox.deliver([9, 9])
            #expect(try await inbox.next() == first)
            #expect(try await inbox.next() == last)
            #expect(recorded() == [true], "two of four bytes are unread")
            #expect(try await inbox.next() == [9, 9])
            #expect(recorded() == [true, false])
        }
        inbox.finish(nil)
        #expect(try await inbox.next() == nil)
    }

    @Test("Continues when it is closed")
    func closes() {
        let changes = Mutex<[Bool]>([])
        func recorded() -> [Bool] { changes.withLock { $0 } }
        let inbox = Inbox(limit: 4) { isPaused in changes.withLock { $0.append(isPaused) } }
        inbox.deliver([1, 2, 3, 4])
        inbox.close()
        #expect(recorded() == [true, false])
    }
}
