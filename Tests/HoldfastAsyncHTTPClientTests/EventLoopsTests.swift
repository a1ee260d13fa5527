import NIOCore
import NIOPosix
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite struct EventLoopsTests {
    @Test("Runs the exchanges with a host on one event loop while they do not overlap")
    func sequential() async throws {
        try await withLoops(4) { loops in
            let first = loops.acquire(host: "a")
            #expect(first.wasIdle)
            first.0.release()
            for _ in 0..<20 {
                let (member, wasIdle) = loops.acquire(host: "a")
                #expect(member === first.0 && wasIdle)
                member.release()
            }
        }
    }

    @Test("Spreads overlapping exchanges with a host over all event loops")
    func overlapping() async throws {
        try await withLoops(4) { loops in
            let members = (0..<64).map { _ in loops.acquire(host: "a").0 }
            let shares = Dictionary(grouping: members) { ObjectIdentifier($0) }.values.map(\.count)
            #expect(shares.count == 4)
            #expect(shares.allSatisfy { (8...32).contains($0) }, "\(shares)")
        }
    }

    @Test("Reports a loop as idle again when its last exchange has ended")
    func idle() async throws {
        try await withLoops(1) { loops in
            let (first, second) = (loops.acquire(host: "a"), loops.acquire(host: "b"))
            #expect(first.wasIdle && !second.wasIdle)
            first.0.release()
            #expect(!loops.acquire(host: "a").wasIdle)
        }
    }

    private func withLoops(_ count: Int, _ body: (EventLoops) throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: count)
        try body(EventLoops(group))
        try await group.shutdownGracefully()
    }
}
