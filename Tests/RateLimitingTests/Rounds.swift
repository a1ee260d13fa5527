#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// The number of random decisions of all property tests: a million, or `HOLDFAST_ROUNDS` if it is set.
enum Rounds {
    static let total = getenv("HOLDFAST_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 1_000_000

    /// Returns the decisions of each of a test's cases, for a share of the total in percent.
    static func share(_ percent: Int, of cases: Int) -> Int { max(100, total / 100 * percent / cases) }
}
