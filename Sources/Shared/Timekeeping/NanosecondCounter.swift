#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Counts the nanoseconds of a clock since the counter was created, as 64-bit integers.
///
/// ```swift
/// let counter = NanosecondCounter(ContinuousClock())
/// print(counter.now)
/// ```
///
/// On Linux, a counter of `ContinuousClock` reads the system's clock directly. An instant of `ContinuousClock` counts attoseconds in 128
/// bits, and the creation and conversion of an instant take as long as the reading.
public struct NanosecondCounter<C: Clock>: Sendable where C.Duration == Duration {
    /// The origin on the system's clock, in nanoseconds; `nil` if the counter must read `clock`.
    @usableFromInline let systemOrigin: Int64?
    @usableFromInline let clock: C
    /// The instant at which the counter was created.
    @usableFromInline let origin: C.Instant

    /// Creates a counter that begins at zero.
    /// - Parameter clock: The clock, which must never go back.
    public init(_ clock: C) {
        let before = SystemClock.nanoseconds
        let origin = clock.now
        let after = SystemClock.nanoseconds
        systemOrigin = before.flatMap { before in
            guard let time = SystemClock.nanoseconds(at: origin, of: clock), let after else { return nil }
            // The check fails if `ContinuousClock` of a later standard library reads another clock of the system.
            return before <= time && time <= after ? time : nil
        }
        (self.clock, self.origin) = (clock, origin)
    }

    /// The number of nanoseconds since the counter was created, rounded up.
    @inlinable
    @inline(__always)
    public var now: Int64 {
        if let systemOrigin, let time = SystemClock.nanoseconds { return time - systemOrigin }
        return nanoseconds(at: clock.now)
    }

    /// Returns the number of nanoseconds from the creation of the counter to an instant, rounded up.
    /// - Parameter instant: An instant of the counter's clock. For an instant before the creation, the result is negative.
    @inlinable
    @inline(__always)
    public func nanoseconds(at instant: C.Instant) -> Int64 {
        origin.duration(to: instant).wholeNanosecondsRoundedUp
    }
}

/// The clock of the system that `ContinuousClock` reads, on Linux. On other systems, all results are `nil`.
@usableFromInline
enum SystemClock {
    /// The nanoseconds since the system started.
    @usableFromInline static var nanoseconds: Int64? {
        #if canImport(Glibc) || canImport(Musl)
            var time = timespec()
            // The call can't fail, because each supported system has this clock.
            clock_gettime(CLOCK_BOOTTIME, &time)
            return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        #else
            return nil
        #endif
    }

    /// Returns the nanoseconds from the start of the system to an instant of a clock; `nil` if the clock isn't `ContinuousClock`.
    static func nanoseconds<C: Clock>(at instant: C.Instant, of clock: C) -> Int64? {
        #if (canImport(Glibc) || canImport(Musl)) && compiler(>=6.3)
            // Another clock can have instants of the same type.
            guard let clock = clock as? ContinuousClock, let instant = instant as? ContinuousClock.Instant else { return nil }
            return clock.systemEpoch.duration(to: instant).wholeNanosecondsRoundedUp
        #else
            return nil
        #endif
    }
}
