/// How long to wait before a mail is tried again: 5 s, doubling to 5 min, ±20 %.
///
/// After 1 failure about 5 s, then 10, 20, 40, 80, 160 and from the seventh on 300 s.
public struct MailBackoff: Hashable, Sendable {
    /// The delay after the first failure.
    public var base: Duration = .seconds(5)
    /// The longest delay.
    public var cap: Duration = .seconds(300)

    /// The default.
    public init() {}

    /// The wait after a number of failures.
    /// - Parameters:
    ///   - failures: How often handing over has failed, from 1.
    ///   - chance: A number in `0..<1`.
    public func delay(afterFailures failures: Int, chance: Double) -> Duration {
        // Capped before the shift: a large exponent would overflow.
        let doubled = base * Int(1 << min(max(failures - 1, 0), 16))
        return min(doubled, cap) * (0.8 + 0.4 * chance)
    }
}
