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

    @Test("Rounds up to whole seconds, for whole nanoseconds and for other durations")
    func seconds() {
        let cases: [(Duration, Int)] = [
            (.zero, 0), (.nanoseconds(1), 1), (.seconds(1), 1), (.nanoseconds(1_000_000_001), 2), (.seconds(60), 60),
            (.nanoseconds(-1), 0), (.milliseconds(-1_500), -1), (.seconds(-2), -2),
            (Duration(secondsComponent: 1, attosecondsComponent: 1), 2),
            (Duration(secondsComponent: 0, attosecondsComponent: 999), 1),
            (Duration(secondsComponent: -1, attosecondsComponent: -1), -1),
            (.seconds(Int64.max), Int(clamping: Int64.max)), (.seconds(Int64.min), Int(clamping: Int64.min)),
        ]
        for (duration, seconds) in cases {
            #expect(duration.wholeSecondsRoundedUp == seconds, "\(duration)")
        }
    }

    @Test("Clamps values that do not fit into 64 bits")
    func clamping() {
        #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
        #expect(Duration.seconds(Int64.min).wholeNanoseconds == .min)
        #expect(Duration.seconds(Int64.max).wholeMilliseconds == .max)
        #expect((Duration.seconds(Int64.max) + .seconds(1)).wholeSecondsRoundedUp == .max)
        #expect((Duration.seconds(Int64.min) - .milliseconds(1)).wholeSecondsRoundedUp == .min)
    }
}
