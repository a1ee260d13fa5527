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

extension [UInt8] {
    /// Makes one to four random changes, for tests of parsers: flips, replaces, removes, duplicates or truncates bytes, or inserts a piece.
    /// - Parameters:
    ///   - generator: The source of random numbers.
    ///   - kinds: The number of kinds to choose from. All from the sixth on insert a piece, so a larger number inserts more pieces.
    ///   - piece: Returns the bytes to insert.
    package mutating func mutate(
        using generator: inout SplitMix64,
        kinds: Int = 6,
        inserting piece: (inout SplitMix64) -> [UInt8]
    ) {
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !isEmpty {
            let place = Int.random(in: 0..<count, using: &generator)
            let end = Swift.min(count, place + Int.random(in: 1...8, using: &generator))
            switch Int.random(in: 0..<kinds, using: &generator) {
            case 0: self[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1: self[place] = UInt8.random(in: .min ... .max, using: &generator)
            case 2: removeSubrange(place..<end)
            case 3: insert(contentsOf: self[place..<end], at: place)
            case 4: removeSubrange(place...)
            default: insert(contentsOf: piece(&generator), at: place)
            }
        }
    }
}
