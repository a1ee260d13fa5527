extension Duration {
    /// The duration in nanoseconds, rounded up, so that a window is never shorter than it was said to be.
    ///
    /// Clocks count whole nanoseconds. A multiple of 10⁹ = 2⁹ · 5⁹ is divided by a shift and the inverse of 5⁹ modulo 2⁶⁴, in a
    /// tenth of the time of a division of 128 bits; the product tells whether it was one.
    @inlinable
    @inline(__always)
    var wholeNanoseconds: Int64 {
        let inverse = Int64(bitPattern: 0x8e47_ce42_3a2e_9c6d)
        let nanoseconds = Int64(truncatingIfNeeded: attoseconds >> 9) &* inverse
        if Int128(nanoseconds) * 1_000_000_000 == attoseconds { return nanoseconds }
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + (attoseconds + 999_999_999) / 1_000_000_000
    }
}
