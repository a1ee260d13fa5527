public import ErrorContract
import Mustache

/// The page at `/`.
///
/// In development it links to the pages for developers. In production it only shows the app's name, so that it discloses nothing about the
/// server. It is one file without scripts or third-party resources. Mount it with `HomeRoute` of `AccountRoutes`.
///
/// ```swift
/// let page = try HomePage(appName: "Notes", isDevelopment: false)
/// let html = page.html(nonce: nonce, language: .english)
/// let policy = HomePage.policy(nonce: nonce)
/// ```
public struct HomePage: Sendable {

    /// The name of the app, which the page always shows.
    private let appName: String
    /// The path of the configured address, which precedes the paths of the routes.
    private let basePath: String
    /// Whether the page links to the pages for developers.
    private let isDevelopment: Bool
    /// The template of the page.
    private let template: MustacheTemplate
    /// The style sheet, which the page contains.
    private let css: String

    /// Reads the template.
    /// - Parameters:
    ///   - appName: The name of the app.
    ///   - basePath: The path of the configured address, which precedes the paths of the routes, such as `/app`.
    ///   - isDevelopment: Whether the page links to the pages for developers.
    /// - Throws: Mustache's error if the template can't be read.
    public init(appName: String, basePath: String = "", isDevelopment: Bool) throws {
        self.appName = appName
        self.basePath = basePath
        self.isDevelopment = isDevelopment
        template = try MustacheTemplate(string: String(decoding: PackageResources.home_html_mustache, as: UTF8.self))
        css = [PackageResources.page_css, PackageResources.home_css].map { String(decoding: $0, as: UTF8.self) }.joined()
    }

    /// Returns the HTML of the page.
    ///
    /// - Returns: The page as UTF-8 text. Send it with the policy of ``policy(nonce:)``.
    /// - Parameters:
    ///   - nonce: The nonce of the response's content security policy.
    ///   - language: The language of the page.
    public func html(nonce: String, language: Language) -> String {
        let content: TemplateValues = [
            "language": language.rawValue,
            "isRightToLeft": language.isRightToLeft,
            "app": appName,
            "nonce": nonce,
            "css": css,
            "note": isDevelopment ? HomeTexts.note.text(in: language) : nil,
            "links": isDevelopment ? links(in: language) : [],
        ]
        return template.render(content)
    }

    /// Returns the content security policy of a page with a nonce. The policy allows only the inline style.
    /// - Parameter nonce: The nonce that was passed to ``html(nonce:language:)``.
    public static func policy(nonce: String) -> String { PagePolicy.text(nonce: nonce) }

    /// Returns the links of the development page.
    private func links(in language: Language) -> [TemplateValues] {
        [
            (HomeTexts.reference, "/docs"), (MailboxTexts.heading, "/dev/mailbox"), (HomeTexts.lab, "/dev/lab"),
            (HomeTexts.codes, ErrorPages.path), (HomeTexts.health, "/health/live"),
        ].map { ["title": $0.text(in: language), "address": basePath + $1] }
    }
}

/// The texts of the page in all supported languages.
private enum HomeTexts {
    /// The introduction of the development page.
    static let note = LocalizedText(
        en: "This is a development server. In production this page shows nothing but the name.",
        es: "Este es un servidor de desarrollo. En producción esta página muestra solo el nombre.",
        he: "זהו שרת פיתוח. בסביבת הייצור הדף הזה מציג את השם בלבד.",
        pt: "Este é um servidor de desenvolvimento. Em produção esta página mostra apenas o nome.",
        fr: "Ceci est un serveur de développement. En production, cette page n’affiche que le nom.",
        de: "Dies ist ein Entwicklungsserver. Im Produktivbetrieb zeigt diese Seite nur den Namen."
    )
    /// The title of the link to the API reference.
    static let reference = LocalizedText(
        en: "API reference",
        es: "Referencia de la API",
        he: "תיעוד ה־API",
        pt: "Referência da API",
        fr: "Référence de l’API",
        de: "API-Referenz"
    )
    /// The title of the link to the error lab.
    static let lab = LocalizedText(
        en: "Error lab",
        es: "Laboratorio de errores",
        he: "מעבדת שגיאות",
        pt: "Laboratório de erros",
        fr: "Laboratoire d’erreurs",
        de: "Fehlerlabor"
    )
    /// The title of the link to the error codes.
    static let codes = LocalizedText(
        en: "Error codes",
        es: "Códigos de error",
        he: "קודי שגיאה",
        pt: "Códigos de erro",
        fr: "Codes d’erreur",
        de: "Fehlercodes"
    )
    /// The title of the link to the health check.
    static let health = LocalizedText(
        en: "Health",
        es: "Estado",
        he: "תקינות",
        pt: "Integridade",
        fr: "État",
        de: "Zustand"
    )
}
