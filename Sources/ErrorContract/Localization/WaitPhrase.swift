/// How long to wait, put in words: "45 segundos", "1 minuto", "2 hours".
///
/// Rounds **up** in the unit shown: under a minute in seconds, up to 59 minutes in minutes, from there in hours. So
/// 3,598 s is one hour and 5,400 s are two.
public struct WaitPhrase: Hashable, Sendable {
    /// The unit that the wait is told in.
    public enum Unit: Hashable, Sendable, CaseIterable {
        case seconds, minutes, hours
    }

    /// How many units, at least 1.
    public let count: Int
    /// The unit.
    public let unit: Unit

    /// Creates the phrase for a wait; a wait of zero or less is told as one second.
    public init(_ wait: Duration) {
        let seconds = max(1, wait.wholeSecondsRoundedUp)
        let minutes = (seconds - 1) / 60 + 1
        if seconds < 60 {
            (count, unit) = (seconds, .seconds)
        } else if minutes < 60 {
            (count, unit) = (minutes, .minutes)
        } else {
            (count, unit) = ((seconds - 1) / 3600 + 1, .hours)
        }
    }

    /// The phrase in every language, in the plural that the count asks for.
    public var text: LocalizedText {
        let one = count == 1
        return switch unit {
        case .seconds: LocalizedText(en: one ? "1 second" : "\(count) seconds", es: one ? "1 segundo" : "\(count) segundos")
        case .minutes: LocalizedText(en: one ? "1 minute" : "\(count) minutes", es: one ? "1 minuto" : "\(count) minutos")
        case .hours: LocalizedText(en: one ? "1 hour" : "\(count) hours", es: one ? "1 hora" : "\(count) horas")
        }
    }
}

extension Duration {
    /// The duration in whole seconds, rounded up, capped at the largest `Int`.
    public var wholeSecondsRoundedUp: Int {
        let (seconds, attoseconds) = components
        guard attoseconds > 0 else { return Int(clamping: seconds) }
        return Int(clamping: seconds.addingReportingOverflow(1).overflow ? seconds : seconds + 1)
    }
}
