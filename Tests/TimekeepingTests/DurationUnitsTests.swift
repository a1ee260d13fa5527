import Testing
import Timekeeping

@Suite struct DurationUnitsTests {
    @Test("Rounds up to nanoseconds and toward zero otherwise")
    func rounding() {
        let long = Duration(secondsComponent: 2, attosecondsComponent: 1)
        #expect(long.wholeNanosecondsRoundedUp == 2_000_000_001)
        #expect(long.wholeNanoseconds == 2_000_000_000)
        #expect(long.wholeMilliseconds == 2_000)
        #expect(long.wholeSecondsRoundedUp == 3)
        #expect(Duration.nanoseconds(-1_500_000).wholeMilliseconds == -1)
        #expect(Duration.nanoseconds(7).wholeNanosecondsRoundedUp == 7)
    }

    @Test("Clamps values that do not fit into 64 bits")
    func clamping() {
        #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeNanoseconds == .min)
        #expect(Duration.seconds(Int64.max).wholeMilliseconds == .max)
    }
}
