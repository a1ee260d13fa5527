import Synchronization

/// Numbers for ids that differ within a process and between processes.
///
/// A count, mixed with random numbers of the process. They are no secret and may be guessed. Made without a call of the system, since each request
/// takes some.
enum UniqueNumbers {
    private static let seeds = (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max))
    private static let count = Atomic<UInt64>(0)

    /// Two numbers that nobody else gets.
    static func next() -> (UInt64, UInt64) {
        let number = count.wrappingAdd(1, ordering: .relaxed).newValue
        return (mixed(number &+ seeds.0), mixed(number &+ seeds.1))
    }

    /// The last steps of SplitMix64: different numbers stay different.
    private static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
