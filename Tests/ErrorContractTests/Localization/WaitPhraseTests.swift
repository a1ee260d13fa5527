import ErrorContract
import Testing
import Timekeeping

@Suite struct WaitPhraseTests {
    @Test(
        "Shows a wait in the fitting unit, rounded up",
        arguments: [
            (Duration.seconds(-5), "1 second", "1 segundo"), (.zero, "1 second", "1 segundo"),
            (.nanoseconds(1), "1 second", "1 segundo"), (.seconds(1), "1 second", "1 segundo"),
            (.milliseconds(1_001), "2 seconds", "2 segundos"), (.seconds(59), "59 seconds", "59 segundos"),
            (.milliseconds(59_200), "1 minute", "1 minuto"), (.seconds(60), "1 minute", "1 minuto"),
            (.milliseconds(60_001), "2 minutes", "2 minutos"), (.seconds(61), "2 minutes", "2 minutos"),
            (.seconds(300), "5 minutes", "5 minutos"), (.seconds(3540), "59 minutes", "59 minutos"),
            (.seconds(3541), "1 hour", "1 hora"), (.seconds(3598), "1 hour", "1 hora"), (.seconds(3600), "1 hour", "1 hora"),
            (.seconds(3601), "2 hours", "2 horas"), (.seconds(5400), "2 hours", "2 horas"),
            (.seconds(7200), "2 hours", "2 horas"),
            (.seconds(7201), "3 hours", "3 horas"), (.seconds(86_400), "24 hours", "24 horas"),
        ]
    )
    func phrase(wait: Duration, english: String, spanish: String) {
        let text = WaitPhrase(wait).text
        #expect(text.text(in: .english) == english)
        #expect(text.text(in: .spanish) == spanish)
    }

    private static let counts = [1, 2, 3, 5, 10, 11, 20, 21, 59, 100]

    @Test(
        "Shows a wait in the plural forms of each language",
        arguments: [
            (Language.english, "second", "seconds", "minute", "minutes", "hour", "hours"),
            (.spanish, "segundo", "segundos", "minuto", "minutos", "hora", "horas"),
            (.portuguese, "segundo", "segundos", "minuto", "minutos", "hora", "horas"),
            (.french, "seconde", "secondes", "minute", "minutes", "heure", "heures"),
            (.german, "Sekunde", "Sekunden", "Minute", "Minuten", "Stunde", "Stunden"),
        ]
    )
    func plurals(
        language: Language,
        second: String,
        seconds: String,
        minute: String,
        minutes: String,
        hour: String,
        hours: String
    ) {
        for (unit, one, many) in [(WaitPhrase.Unit.seconds, second, seconds), (.minutes, minute, minutes), (.hours, hour, hours)]
        {
            let told = Self.counts.map { WaitPhrase(count: $0, unit: unit).text.text(in: language) }
            let expected = ["1 \(one)"] + ["2", "3", "5", "10", "11", "20", "21", "59", "100"].map { "\($0) \(many)" }
            #expect(told == expected)
        }
        let zero = [Language.french, .portuguese].contains(language) ? hour : hours
        #expect(WaitPhrase(count: 0, unit: .hours).text.text(in: language) == "0 \(zero)")
    }

    @Test(
        "In Hebrew one and two are words, and other counts are numbers",
        arguments: [
            (WaitPhrase.Unit.seconds, "שנייה אחת", "שתי שניות", "שניות"), (.minutes, "דקה אחת", "שתי דקות", "דקות"),
            (.hours, "שעה אחת", "שעתיים", "שעות"),
        ]
    )
    func hebrew(unit: WaitPhrase.Unit, one: String, two: String, many: String) {
        let told = Self.counts.map { WaitPhrase(count: $0, unit: unit).text.text(in: .hebrew) }
        let expected = [one, two] + ["3", "5", "10", "11", "20", "21", "59", "100"].map { "\($0) \(many)" }
        #expect(told == expected)
        #expect(told.allSatisfy { !$0.contains("\u{2068}") }, "a number needs no isolation")
    }

    @Test("The longest waits neither trap nor overflow")
    func extremes() {
        #expect(Duration.seconds(Int64.max).wholeSecondsRoundedUp == Int.max)
        #expect((Duration.seconds(Int64.max) + .nanoseconds(1)).wholeSecondsRoundedUp == Int.max)
        #expect(WaitPhrase(.seconds(Int64.max)).unit == .hours)
        #expect(Duration.nanoseconds(-1).wholeSecondsRoundedUp == 0)
        #expect(Duration.seconds(Int64.min).wholeSecondsRoundedUp == Int.min)
    }
}
