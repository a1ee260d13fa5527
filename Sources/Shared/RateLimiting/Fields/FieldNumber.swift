import Timekeeping

/// Numbers as servers write them into fields. What can't be read counts as absent.
enum FieldNumber {
    /// Digits, of which a fraction such as Reddit's `99.0` is dropped: what is left is never more than said.
    static func count(_ text: String?) -> Int? { parts(text)?.whole }

    /// A window in whole seconds, not zero.
    static func window(_ text: String?) -> Duration? { count(text).flatMap { $0 > 0 ? .seconds($0) : nil } }

    /// A time until a reset, rounded up to the second: below 10⁹ from now on, above it since 1970 in seconds, above 10¹² in
    /// milliseconds; in letters a date (Vimeo's HTTP date, Akamai's ISO 8601) or a length (OpenAI's `1m2.5s`).
    static func reset(_ text: String?, now: Int64) -> Duration? {
        guard let text else { return nil }
        guard let (count, hasFraction) = parts(text) else {
            return date(text, now: now).map { .seconds(max(0, $0 - now)) } ?? length(text)
        }
        let whole = Int64(count) + (hasFraction ? 1 : 0)
        if whole > 1_000_000_000_000 { return .milliseconds(max(0, whole - now * 1_000)) }
        return .seconds(whole > 1_000_000_000 ? max(0, whole - now) : whole)
    }

    private static func parts(_ text: String?) -> (whole: Int, hasFraction: Bool)? {
        guard let text else { return nil }
        let parts = text.utf8.split(separator: 46, maxSplits: 1, omittingEmptySubsequences: false)
        guard (1...15).contains(parts[0].count), parts.allSatisfy({ $0.allSatisfy { (48...57).contains($0) } }) else {
            return nil
        }
        let hasFraction = parts.count == 2 && parts[1].contains { $0 != 48 }
        return Int(String(Substring(parts[0]))).map { ($0, hasFraction) }
    }

    /// Seconds since 1970, a fraction rounded up; `nil` for a date in another zone than UTC.
    private static func date(_ text: String, now: Int64) -> Int64? {
        if let seconds = HTTPDate.seconds(text, now: now) { return seconds }
        guard let zone = text.utf8.last, zone == UInt8(ascii: "Z") || zone == UInt8(ascii: "z") else { return nil }
        return InternetDate.seconds(text).map { $0.whole + ($0.fraction > 0 ? 1 : 0) }
    }

    /// Numbers with units, as Go writes durations: `6m0s`, `1h2m3.5s`, `20ms`.
    private static func length(_ text: String) -> Duration? {
        let units: [(name: String, milliseconds: Double)] = [("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)]
        var rest = text.utf8[...]
        var milliseconds = 0.0
        guard !rest.isEmpty, rest.count <= 32 else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { (48...57).contains($0) || $0 == 46 }
            rest = rest[digits.endIndex...]
            guard
                digits.count <= 12, let number = Double(String(Substring(digits))),
                let unit = units.first(where: { rest.starts(with: $0.name.utf8) })
            else { return nil }
            rest = rest.dropFirst(unit.name.utf8.count)
            milliseconds += number * unit.milliseconds
        }
        return milliseconds < 1e15 ? .seconds(Int64((milliseconds / 1_000).rounded(.up))) : nil
    }
}
