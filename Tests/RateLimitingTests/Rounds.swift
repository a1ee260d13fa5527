#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// How many random decisions the property tests make in all: a million, or what `HOLDFAST_ROUNDS` says.
enum Rounds {
    static let total = getenv("HOLDFAST_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 1_000_000

    /// One test's share, in its number of cases.
    static func share(_ percent: Int, of cases: Int) -> Int { max(100, total / 100 * percent / cases) }
}
