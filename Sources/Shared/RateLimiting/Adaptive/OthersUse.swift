/// How many units of a server's limit others were seen to hold: the most of the current and the last period.
///
/// Who shares a limit with others and takes every place that becomes free is refused as often as he is outrun. What others held
/// lately is therefore left to them, for one to two periods.
struct OthersUse: Sendable {
    private var recent = 0
    private var earlier = 0
    private var start = Int64.min

    var most: Int { max(recent, earlier) }

    /// Notes what was seen.
    /// - Parameter period: The window of the limit, in nanoseconds.
    mutating func note(_ units: Int, at now: Int64, period: Int64) {
        let age = start == .min ? .max : now - start
        if age >= period { (earlier, recent, start) = (age / 2 >= period ? 0 : recent, 0, now) }
        recent = max(recent, units)
    }
}
