/// How admissions are counted.
public enum RateLimitAlgorithm: Hashable, Sendable {
    /// An exact ring of instants, see ``SlidingWindow``: the whole quota may come at once; 8 bytes per kept instant.
    case slidingWindow
    /// An evenly paced limit that never exceeds the quota in any window, see ``StrictGCRA``: 8 bytes, at a lower lasting rate.
    /// - burst: The largest number of units admitted at once.
    case strictGCRA(burst: Int)
    /// An evenly paced limit that can admit up to `burst + quota − 1` units in one window, see ``PlainGCRA``: 16 bytes.
    /// - burst: The largest number of units admitted at once.
    case plainGCRA(burst: Int)

    /// What a quota gets unless its policy says otherwise: the exact ring up to 64, then the strict GCRA with a tenth as burst.
    public static func automatic(quota: Int) -> RateLimitAlgorithm {
        quota <= 64 ? .slidingWindow : .strictGCRA(burst: quota / 10)
    }
}
