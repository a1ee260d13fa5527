extension Language {
    /// The plural category that a whole number asks for, by the rules of Unicode CLDR for cardinal numbers.
    ///
    /// The rules of the languages below are built in; any other counts as English does: one, and all the rest. That millions have
    /// a category of their own in Spanish, French and Portuguese is left out, since nothing here is counted in millions.
    /// - Parameter count: The number; its sign does not matter.
    public func pluralCategory(of count: Int) -> PluralCategory {
        let number = count.magnitude
        switch primary {
        case "pt" where rawValue == "pt-pt" || rawValue.hasPrefix("pt-pt-"): return number == 1 ? .one : .other
        case "fr", "pt", "hi", "bn", "fa", "hy", "am", "zu": return number < 2 ? .one : .other
        case "he": return number == 1 ? .one : number == 2 ? .two : .other
        case "ja", "ko", "zh", "yue", "th", "vi", "id", "ms", "lo", "km", "my": return .other
        case "ru", "uk", "be": return Self.eastSlavic(number)
        case "hr", "sr", "bs": return Self.eastSlavic(number) == .many ? .other : Self.eastSlavic(number)
        case "pl": return number == 1 ? .one : Self.isFew(number) ? .few : .many
        case "cs", "sk": return number == 1 ? .one : (2...4).contains(number) ? .few : .other
        case "ar": return Self.arabic(number)
        case "ro": return number == 1 ? .one : number == 0 || (1...19).contains(number % 100) ? .few : .other
        default: return number == 1 ? .one : .other
        }
    }

    /// Whether a number ends in 2, 3 or 4 but not in 12, 13 or 14.
    private static func isFew(_ number: UInt) -> Bool {
        (2...4).contains(number % 10) && !(12...14).contains(number % 100)
    }

    private static func eastSlavic(_ number: UInt) -> PluralCategory {
        if number % 10 == 1, number % 100 != 11 { return .one }
        return isFew(number) ? .few : .many
    }

    private static func arabic(_ number: UInt) -> PluralCategory {
        switch (number, number % 100) {
        case (0, _): .zero
        case (1, _): .one
        case (2, _): .two
        case (_, 3...10): .few
        case (_, 11...99): .many
        default: .other
        }
    }
}
