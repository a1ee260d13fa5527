import Foundation

/// Times of a log: RFC 3339, UTC, milliseconds.
enum LogTime {
    /// A time, such as `2026-11-21T10:30:00.123Z`; what is outside the years 0 to 9999 is put at their edge.
    static func text(of time: Date) -> String {
        let milliseconds = min(max((time.timeIntervalSince1970 * 1_000).rounded(.down), -62_167_219_200_000), 253_402_300_799_999)
        let whole = Int64(milliseconds.isNaN ? 0 : milliseconds)
        let (days, rest) = (floorDiv(whole, 86_400_000), whole - floorDiv(whole, 86_400_000) * 86_400_000)
        let (year, month, day) = date(ofDay: days)
        let hours = rest / 3_600_000
        let minutes = rest / 60_000 % 60
        let seconds = rest / 1_000 % 60
        return String(unsafeUninitializedCapacity: 24) { text in
            var end = 0
            func add(_ number: Int64, _ width: Int, _ sign: Unicode.Scalar) {
                var number = number
                for place in stride(from: end + width - 1, through: end, by: -1) {
                    text[place] = UInt8(ascii: "0") + UInt8(number % 10)
                    number /= 10
                }
                text[end + width] = UInt8(ascii: sign)
                end += width + 1
            }
            add(year, 4, "-")
            add(month, 2, "-")
            add(day, 2, "T")
            add(hours, 2, ":")
            add(minutes, 2, ":")
            add(seconds, 2, ".")
            add(rest % 1_000, 3, "Z")
            return end
        }
    }

    /// The date of a day since 1970, by the era of 400 years that it lies in (Hinnant, "chrono-compatible low-level date algorithms").
    private static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = floorDiv(shifted, 146_097)
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, ofYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func floorDiv(_ a: Int64, _ b: Int64) -> Int64 { a >= 0 ? a / b : -((b - 1 - a) / b) }
}
