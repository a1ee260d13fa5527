import Testing

@testable import AccountServer
@testable import HoldfastCommand

@Suite struct ProcessorCountTests {
    @Test(
        "Counts the processors in the affinity mask",
        arguments: [
            ("Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n", 2), ("Cpus_allowed:\tff,ffffffff", 40),
            ("Cpus_allowed:\t00000000,00000005\n", 2), ("Cpus_allowed:\t0\n", nil), ("Name:\tx\n", nil), ("", nil),
        ]
    )
    func allowed(status: String, count: Int?) {
        #expect(ProcessorCount.allowed(in: status) == count)
    }

    @Test("There is at least one processor")
    func available() {
        #expect(ProcessorCount.available >= 1)
    }
}
