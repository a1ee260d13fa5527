import AccountKit
import ErrorContract
import HoldfastTesting
import Testing

/// One row of the texts that must be shown exactly, with the steps that make an app show it.
struct MessageRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let spanish: [String]
    let english: [String]
    let shown: @MainActor @Sendable (Language) async throws -> [String?]

    init(
        _ name: String,
        es spanish: String...,
        en english: String...,
        shown: @escaping @MainActor @Sendable (Language) async throws -> [String?]
    ) {
        (self.testDescription, self.spanish, self.english, self.shown) = (name, spanish, english, shown)
    }

    static let all = limits + cooldown + forms + links + resetScreen + general

    func expected(in language: Language) -> [String] { language == .spanish ? spanish : english }
}

extension MessageRow {
    /// A sign-in with one scripted response: the title and text of its alert.
    static func signIn(_ step: ScriptedTransport.Step) -> @MainActor @Sendable (Language) async throws -> [String?] {
        { language in
            let model = try ScreenScript([step]).signIn(language)
            await model.submit()
            return [model.alert?.title, model.alert?.message]
        }
    }

    /// A request for a link with one scripted response: the title and text of its alert.
    static func forgot(_ step: ScriptedTransport.Step) -> @MainActor @Sendable (Language) async throws -> [String?] {
        { language in
            let model = try ScreenScript([step]).forgot(language)
            await model.request()
            return [model.alert?.title, model.alert?.message]
        }
    }

    /// An error as every part of an app shows it: title, text and the labels of its buttons.
    static func presentation(of error: APIError, in language: Language) -> [String?] {
        let shown = error.presentation(in: language, now: ScreenScript.start)
        return [shown.title, shown.message, shown.primaryLabel(in: language), shown.secondaryLabel(in: language)]
    }
}

@MainActor
@Suite("Exact texts of the screens")
struct MessageTableTests {
    @Test("The screens show every row exactly", arguments: MessageRow.all, [Language.spanish, .english])
    func comesOutExactly(row: MessageRow, language: Language) async throws {
        let shown = try await row.shown(language)
        #expect(shown == row.expected(in: language))
    }

    @Test("Every row has a text in both languages")
    func filled() {
        for row in MessageRow.all {
            #expect(row.spanish.count == row.english.count, "\(row.testDescription)")
            #expect(!row.spanish.isEmpty && !(row.spanish + row.english).contains(""), "\(row.testDescription)")
        }
    }
}
