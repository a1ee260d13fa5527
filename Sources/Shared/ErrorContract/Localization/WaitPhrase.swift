import Timekeeping

/// A delay in words, such as "45 segundos", "1 minuto" or "2 hours".
///
/// The unit is seconds for delays below a minute, minutes for delays up to 59 minutes, and hours for longer delays. The phrase rounds the
/// delay **up** to a whole number of the unit. For example, 3,598 s become one hour and 5,400 s become two hours. So a user who waits for
/// the shown delay never retries too early.
///
/// ```swift
/// print(WaitPhrase(.seconds(90)).text.text(in: .english))  // 2 minutes
/// ```
public struct WaitPhrase: Hashable, Sendable {
    /// The unit of the delay.
    public enum Unit: Hashable, Sendable, CaseIterable {
        /// A unit.
        case seconds, minutes, hours
    }

    /// The number of units; at least 1 if the phrase was created from a delay.
    public let count: Int
    /// The unit.
    public let unit: Unit

    /// Creates the phrase for a delay.
    /// - Parameter wait: The delay. Zero or less becomes one second.
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

    /// Creates the phrase for a number of units. Use this initializer for a unit that ``init(_:)`` would not choose, such as seconds for a
    /// countdown that shows 90 seconds.
    /// - Parameters:
    ///   - count: The number of units.
    ///   - unit: The unit.
    public init(count: Int, unit: Unit) {
        (self.count, self.unit) = (count, unit)
    }

    /// The phrase in every language, in the plural form of the count.
    public var text: LocalizedText {
        switch unit {
        case .seconds: Self.seconds.counting(count)
        case .minutes: Self.minutes.counting(count)
        case .hours: Self.hours.counting(count)
        }
    }

    /// The phrase in seconds, in all plural forms.
    static let seconds = LocalizedText(
        en: PluralForms(one: "{count} second", other: "{count} seconds"),
        es: PluralForms(one: "{count} segundo", other: "{count} segundos"),
        he: PluralForms(one: "שנייה אחת", two: "שתי שניות", other: "{count} שניות"),
        pt: PluralForms(one: "{count} segundo", other: "{count} segundos"),
        fr: PluralForms(one: "{count} seconde", other: "{count} secondes"),
        de: PluralForms(one: "{count} Sekunde", other: "{count} Sekunden")
    )
    /// The phrase in minutes, in all plural forms.
    static let minutes = LocalizedText(
        en: PluralForms(one: "{count} minute", other: "{count} minutes"),
        es: PluralForms(one: "{count} minuto", other: "{count} minutos"),
        he: PluralForms(one: "דקה אחת", two: "שתי דקות", other: "{count} דקות"),
        pt: PluralForms(one: "{count} minuto", other: "{count} minutos"),
        fr: PluralForms(one: "{count} minute", other: "{count} minutes"),
        de: PluralForms(one: "{count} Minute", other: "{count} Minuten")
    )
    /// The phrase in hours, in all plural forms.
    static let hours = LocalizedText(
        en: PluralForms(one: "{count} hour", other: "{count} hours"),
        es: PluralForms(one: "{count} hora", other: "{count} horas"),
        he: PluralForms(one: "שעה אחת", two: "שעתיים", other: "{count} שעות"),
        pt: PluralForms(one: "{count} hora", other: "{count} horas"),
        fr: PluralForms(one: "{count} heure", other: "{count} heures"),
        de: PluralForms(one: "{count} Stunde", other: "{count} Stunden")
    )
}
