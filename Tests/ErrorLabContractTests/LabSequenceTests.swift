import ErrorContract
import ErrorLabContract
import Testing

@Suite struct LabSequenceTests {
    @Test("Fails the requested number of first calls", arguments: [0, 1, 5])
    func times(count: Int) {
        let response = LabResponse(.code(.serverTimeout), times: count)
        #expect((1...8).map { response.fails(call: $0) } == (1...8).map { $0 <= count })
    }

    @Test("Without a rule every call fails")
    func always() {
        #expect((1...100).allSatisfy { LabResponse(.code(.serverTimeout)).fails(call: $0) })
    }

    @Test("A seed determines which calls fail, in every run")
    func seeded() {
        var response = LabResponse(.code(.serverTimeout))
        (response.flaky, response.seed) = (0.5, 7)
        let pattern = (1...16).map { response.fails(call: $0) ? "x" : "." }.joined()
        #expect(pattern == "xx..xxxxxxx.....")
        response.seed = 8
        #expect((1...16).map { response.fails(call: $0) ? "x" : "." }.joined() != pattern)
    }

    @Test("The share of failing calls is the requested one", arguments: [0, 0.1, 0.3, 0.5, 0.9, 1])
    func share(rate: Double) {
        var response = LabResponse(.code(.serverTimeout))
        response.flaky = rate
        let failures = (1...20_000).count { response.fails(call: $0) }
        #expect(abs(Double(failures) / 20_000 - rate) < 0.02)
    }
}
