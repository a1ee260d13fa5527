import Foundation
import Testing

@testable import AccountCore

@Suite struct YieldingThreadTests {
    private struct Refusal: Error {}

    #if os(Linux)
        @Test("The work yields to other threads, and who waits for it does not")
        func yields() throws {
            // `nice(0)` tells how far a thread gives way.
            let own = nice(0)
            #expect(try YieldingThread.run { nice(0) }.get() == min(own + 5, 19))
            #expect(nice(0) == own)
        }
    #endif

    @Test("What the work throws is passed on")
    func failure() {
        #expect(throws: Refusal.self) { try YieldingThread.run { throw Refusal() }.get() }
    }
}
