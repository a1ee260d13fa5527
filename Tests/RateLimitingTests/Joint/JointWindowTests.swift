import HoldfastTesting
import RateLimiting
import Testing

@Suite struct JointWindowTests {
    private static let minute = RateLimitPolicy.requests(2, per: .seconds(60), name: "minute")
    private static let hour = RateLimitPolicy.requests(3, per: .seconds(3600), name: "hour")

    @Test("All or nothing: the answer names the limit with the longest wait, and a refusal counts nowhere")
    func allOrNothing() {
        var joint = JointWindow([Self.minute, Self.hour])
        #expect(joint.admit(at: 0) == .admitted(remaining: [1, 2]))
        #expect(joint.admit(at: 0) == .admitted(remaining: [0, 1]))
        for _ in 0..<100 { #expect(joint.admit(at: 0) == .refused(policy: Self.minute, retryAfter: .seconds(60))) }
        #expect(joint.remaining(at: 0) == [0, 1], "the hour did not count the refusals of the minute")
        #expect(joint.admit(at: 60_000_000_000) == .admitted(remaining: [1, 0]))
        #expect(joint.admit(at: 60_000_000_000) == .refused(policy: Self.hour, retryAfter: .seconds(3540)))
        #expect(joint.remaining(at: 60_000_000_000) == [1, 0])
    }

    @Test("A cost that one limit can never admit is impossible, and counts nowhere")
    func impossible() {
        var joint = JointWindow([Self.hour, Self.minute])
        #expect(joint.admit(at: 0, cost: 3) == .impossible(policy: Self.minute))
        #expect(joint.remaining(at: 0) == [3, 2])
    }

    @Test("The wait is tight for all of them together")
    func tight() {
        let policies = [Self.minute, Self.hour, .requests(100, per: .seconds(100), name: "paced")]
        var generator = SplitMix64(seed: 4)
        var joint = JointWindow(policies)
        var now: Int64 = 0
        for _ in 0..<Rounds.share(20, of: 4) {
            now += Int64.random(in: 0...40_000_000_000, using: &generator)
            let cost = Int.random(in: 1...2, using: &generator)
            guard case .refused(_, let wait) = joint.admit(at: now, cost: cost) else { continue }
            now += wait.components.seconds * 1_000_000_000 + wait.components.attoseconds / 1_000_000_000
            guard !joint.admit(at: now - 1, cost: cost).isAdmitted, joint.admit(at: now, cost: cost).isAdmitted else {
                Issue.record("the wait until \(now) is not tight")
                return
            }
        }
    }

    @Test("No policy, or two of one name, is a programmer's mistake")
    func preconditions() async {
        await #expect(processExitsWith: .failure) { _ = JointWindow([]) }
        await #expect(processExitsWith: .failure) {
            _ = JointWindow([.requests(1, per: .seconds(1)), .requests(2, per: .seconds(2))])
        }
    }
}
