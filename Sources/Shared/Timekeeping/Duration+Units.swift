extension Duration {
    /// The duration in whole seconds, rounded up and limited to the largest `Int`. Use this property for `Retry-After`, so that a client
    /// never retries too early.
    public var wholeSecondsRoundedUp: Int {
        if let nanoseconds = exactNanoseconds {
            let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
            return Int(clamping: rest > 0 ? seconds + 1 : seconds)
        }
        // `components` would trap for a duration of more than 2⁶³ seconds.
        let (seconds, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
        return Int(clamping: rest > 0 ? seconds + 1 : seconds)
    }

    /// The duration in whole nanoseconds, rounded up, so that a window is never shorter than specified.
    ///
    /// - Precondition: The result fits into 64 bits: the duration is shorter than 292 years.
    @inlinable
    @inline(__always)
    public var wholeNanosecondsRoundedUp: Int64 {
        if let nanoseconds = exactNanoseconds { return nanoseconds }
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + (attoseconds + 999_999_999) / 1_000_000_000
    }

    /// The duration in nanoseconds; `nil` if the duration isn't a whole number of nanoseconds, or if the number doesn't fit into 64 bits.
    ///
    /// A `Duration` counts attoseconds, but most durations are whole nanoseconds: multiples of 10⁹ = 2⁹ · 5⁹ attoseconds. The property
    /// first divides by a shift, and a multiplication with the inverse of 5⁹ modulo 2⁶⁴. Both take a tenth of the time of a 128-bit
    /// division. The result is correct only for a multiple of 10⁹, so the property multiplies the result by 10⁹ and compares the product
    /// with the duration.
    @inlinable
    @inline(__always)
    var exactNanoseconds: Int64? {
        let inverse = Int64(bitPattern: 0x8e47_ce42_3a2e_9c6d)
        let nanoseconds = Int64(truncatingIfNeeded: attoseconds >> 9) &* inverse
        return Int128(nanoseconds) * 1_000_000_000 == attoseconds ? nanoseconds : nil
    }

    /// The duration in whole nanoseconds, rounded toward zero. A duration of more than 292 years becomes the largest or smallest `Int64`.
    package var wholeNanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

    /// The duration in whole milliseconds, rounded toward zero and clamped to 64 bits.
    package var wholeMilliseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000_000) }
}
