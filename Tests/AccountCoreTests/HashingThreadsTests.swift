import Foundation
import Synchronization
import Testing

@testable import AccountCore

@Suite(.timeLimit(.minutes(10))) struct HashingThreadsTests {
    /// The observations of jobs and reports.
    private final class Observations: Sendable {
        let jobs = Mutex<[Int32]>([])
        let reports = Mutex<[Int32]>([])
        let threads = Mutex(Set<ObjectIdentifier>())
    }

    private static func niceness() -> Int32 {
        #if os(Linux)
            nice(0)
        #else
            0
        #endif
    }

    private func job(_ seen: Observations) -> HashingThreads.Job {
        return {
            seen.jobs.withLock { $0.append(Self.niceness()) }
            _ = seen.threads.withLock { $0.insert(ObjectIdentifier(Thread.current)) }
            return { seen.reports.withLock { $0.append(Self.niceness()) } }
        }
    }

    #if os(Linux)
        @Test("Jobs yield to other threads; their reports do not")
        func yields() async {
            let seen = Observations()
            let threads = HashingThreads(width: 1) { nil }
            threads.start(job(seen))
            await until { seen.reports.withLock(\.count) == 1 }
            threads.end()
            let own = nice(0)
            #expect(seen.jobs.withLock(\.self) == [min(own + 5, 19)])
            #expect(seen.reports.withLock(\.self) == [own])
        }
    #endif

    @Test("A thread that has finished a job computes the next one")
    func nextJobs() async {
        let seen = Observations()
        let left = Mutex(99)
        let threads = HashingThreads(width: 1) { [self] in
            left.withLock { left in
                guard left > 0 else { return nil }
                left -= 1
                return job(seen)
            }
        }
        threads.start(job(seen))
        await until { seen.reports.withLock(\.count) == 100 }
        threads.end()
        #expect(seen.threads.withLock(\.count) == 1)
    }

    @Test("Uses no more threads than the width, for any load", arguments: [1, 3])
    func width(_ width: Int) async {
        let seen = Observations()
        let threads = HashingThreads(width: width) { nil }
        for round in 0..<50 {
            for _ in 0..<width { threads.start(job(seen)) }
            await until { seen.reports.withLock(\.count) == (round + 1) * width }
        }
        threads.end()
        #expect(seen.threads.withLock(\.count) <= width)
    }
}
