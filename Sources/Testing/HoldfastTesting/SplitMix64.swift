/// A random number generator that returns the same numbers for the same seed, so that a failed random test can be repeated.
///
/// ```swift
/// var random = SplitMix64(seed: 42)
/// let delay = Int.random(in: 0..<1_000, using: &random)
/// ```
///
/// Each number is a hash of a counter that grows by a constant. All seeds share one sequence of 2⁶⁴ numbers, and a seed decides where in
/// the sequence the generator starts. The algorithm is from Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators" (2014).
/// Each number takes O(1) time.
///
/// Don't use the generator for secrets: from one number, an attacker can compute all others.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    /// The counter, which each number increases by the constant.
    private var state: UInt64

    /// Creates a generator.
    ///
    /// Two generators with the same seed return the same numbers, on all platforms and in all versions.
    /// - Parameter seed: Any number. Print it in the message of a random test.
    public init(seed: UInt64) {
        state = seed
    }

    /// Returns the next number, evenly distributed over all 64-bit values.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
