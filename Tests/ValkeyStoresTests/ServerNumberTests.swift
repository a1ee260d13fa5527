import RateLimiting
import Testing
import ValkeyDriver

@testable import ValkeyStores

/// Numbers that only a faulty server sends.
@Suite struct ServerNumberTests {
    private func time(_ parts: String...) -> Int64? {
        ValkeyReply.array(parts.map { .text(Array($0.utf8)) }).microseconds
    }

    @Test("Reads the server's time, and ignores numbers that are not those of a clock")
    func clock() {
        #expect(time("1780000000", "5") == 1_780_000_000_000_005)
        #expect(time("9223372036854775807", "0") == nil)
        #expect(time("9223372036854", "775808") == nil)
        #expect(time("-1", "0") == nil)
        #expect(time("1780000000", "1000000") == nil)
        #expect(time("1780000000") == nil)
    }

    @Test("Caches a refusal for a second, even if the server reports the longest delay")
    func longestDelay() throws {
        let reply = try LimitReply(.text(ScriptNumbers.pack(0, .max, 0, .max, 0)), count: 1)
        let refusals = KnownRefusals()
        refusals.note(RateLimitResult(limits: []), reply, to: [], version: 0, sent: 0, received: 0)
        #expect(refusals.find([], at: 999_999_999).result != nil)
        #expect(refusals.find([], at: 1_000_000_000).result == nil)
    }
}
