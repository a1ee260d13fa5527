/// An instant said in letters, as vendors do: `Sun, 06 Nov 1994 08:49:37 GMT` or `1994-11-06T08:49:37Z`.
enum CivilDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Seconds since 1970, a fraction rounded up; `nil` if the text is in neither form or isn't in UTC.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.lowercased().split { " ,\t".contains($0) }.map(String.init)
        if parts.count == 6, parts[5] == "gmt", let month = months.firstIndex(of: parts[2]) {
            return seconds(year: parts[3], month: "\(month + 1)", day: parts[1], time: parts[4])
        }
        guard parts.count == 1, let zone = parts[0].last, zone == "z" else { return nil }
        let halves = parts[0].dropLast().split(separator: "t", omittingEmptySubsequences: false).map(String.init)
        guard halves.count == 2 else { return nil }
        let date = halves[0].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        let clock = halves[1].split(separator: ".", maxSplits: 1).map(String.init)
        guard date.count == 3, let whole = clock.first else { return nil }
        let seconds = seconds(year: date[0], month: date[1], day: date[2], time: whole)
        return clock.count == 2 ? seconds.map { $0 + 1 } : seconds
    }

    private static func seconds(year: String, month: String, day: String, time: String) -> Int64? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), in: 0...60) }
        guard
            clock.count == 3, let hour = clock[0], hour < 24, let minute = clock[1], minute < 60, let second = clock[2],
            let year = number(year, in: 1970...9999), let month = number(month, in: 1...12), let day = number(day, in: 1...31)
        else { return nil }
        // Days by the civil calendar with years that begin in March, so that the leap day is the last.
        let shifted = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
        return days * 86_400 + hour * 3_600 + minute * 60 + second
    }

    private static func number(_ text: String, in range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(text), range.contains(number) else {
            return nil
        }
        return number
    }
}
