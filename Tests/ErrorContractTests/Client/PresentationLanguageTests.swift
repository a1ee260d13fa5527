import ErrorContract
import Foundation
import HTTPTypes
import Testing

/// Presentations in every language of the contract.
@Suite struct PresentationLanguageTests {
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    @Test(
        "Shows a limit with its wait in each language",
        arguments: [
            (Language.english, "Too many attempts", "Too many requests. Please try again in 5 minutes.", "Try Again", "Cancel"),
            (.spanish, "Demasiados intentos", "Demasiadas solicitudes. Intenta de nuevo en 5 minutos.", "Reintentar", "Cancelar"),
            (.hebrew, "יותר מדי ניסיונות", "יותר מדי בקשות. נא לנסות שוב בעוד 5 דקות.", "ניסיון חוזר", "ביטול"),
            (
                .portuguese, "Muitas tentativas", "Muitas solicitações. Por favor, tente novamente em 5 minutos.",
                "Tentar novamente",
                "Cancelar"
            ),
            (.french, "Trop de tentatives", "Trop de demandes. Veuillez réessayer dans 5 minutes.", "Réessayer", "Annuler"),
            (
                .german, "Zu viele Versuche", "Zu viele Anfragen. Bitte versuche es in 5 Minuten erneut.", "Erneut versuchen",
                "Abbrechen"
            ),
        ]
    )
    func limit(language: Language, title: String, text: String, primary: String, secondary: String) {
        let shown = PresentationRow.answered(429, .rateLimitExceeded, retryAfter: .seconds(300))
            .presentation(in: Language("\(language)-XX"), now: Self.now)
        #expect(shown.title == title)
        #expect(shown.message == text)
        #expect(shown.primaryLabel(in: language) == primary)
        #expect(shown.secondaryLabel(in: language) == secondary)
    }

    /// Every kind of failed call: each code as a server sends it, and each kind of failure without a response.
    private static let failures: [APIError] =
        ErrorCatalogue.standard.definitions.flatMap { definition in
            [nil, Duration.seconds(45)].map { PresentationRow.answered(definition.status, definition.code, retryAfter: $0) }
        }
        + [
            APIError.Kind.network, .noInternet, .timeout, .cancelled, .unauthorized, .forbidden, .badRequest, .notFound,
            .conflict,
            .validation, .rateLimited, .throttled, .unavailable, .server, .decoding, .unknownOutcome, .notAPI, .invalidRequest,
            .custom,
        ].flatMap { kind in Recovery.allCases.map { PresentationRow.local(kind, recovery: $0, retryAfter: .seconds(1)) } }

    @Test("Shows every failure in each language, with a different text in each", arguments: failures)
    func everything(error: APIError) {
        let shown = Language.supported.map { ($0, error.presentation(in: $0, now: Self.now)) }
        #expect(Set(shown.map(\.1.message)).count == Language.supported.count)
        // "Error" is the same word in Spanish.
        #expect(Set(shown.map(\.1.title)).count >= Language.supported.count - 1)
        for (language, presentation) in shown {
            let labels = [presentation.primaryLabel(in: language), presentation.secondaryLabel(in: language)].compactMap(\.self)
            for text in [presentation.title, presentation.message] + labels {
                #expect(!text.isEmpty && !text.contains("{"))
                #expect(text.contains(/[א-ת]/) == (language == .hebrew))
            }
        }
    }

    @Test("Shows a text of the server unchanged if it is in the user's language", arguments: Language.supported)
    func serverText(language: Language) {
        var error = PresentationRow.answered(400, message: "Der Name ist vergeben.")
        error.headers[.contentLanguage] = language.rawValue
        #expect(error.presentation(in: language, now: Self.now).message == "Der Name ist vergeben.")
    }
}
