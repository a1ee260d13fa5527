import AccountContract
import AccountCore
import ErrorContract
import Foundation
import Pages
import Testing

/// Returns the templates of an app called Ñandú, with some of the settings replaced.
func makeTemplates(
    appName: String = "Ñandú",
    base: String = "https://app.example.com",
    style: ResetLink.Style = .query,
    lifetime: Duration = .seconds(3_600),
    subject: String? = nil,
    preview: String? = nil
) throws -> MailTemplates {
    try MailTemplates(
        settings: .init(
            appName: appName,
            sender: "Ñandú <noreply@example.com>",
            linkBase: try #require(URL(string: base)),
            linkStyle: style,
            linkLifetime: lifetime,
            resetSubject: subject,
            resetPreview: preview
        )
    )
}

extension MailTemplates {
    /// Returns an email with a fixed token, device and date.
    /// - Parameter name: The name in the greeting; `nil` to greet without a name.
    func sample(
        _ kind: MailKind,
        name: String? = "Ana",
        device: String? = "iPhone",
        language: Language = .spanish
    ) throws -> Mail {
        try mail(
            MailContent(
                kind,
                to: try EmailAddress("Ana+test@Example.com"),
                name: try name.map { try FirstName(stored: $0) },
                token: try ResetToken(kind.purpose == nil ? "freeze-token" : "AbC-_123"),
                device: device,
                purgeAt: Date(timeIntervalSince1970: 1_796_000_000),
                language: language
            )
        )
    }

    /// Returns a reset email.
    func sampleReset(name: String = "Ana", language: Language = .spanish) throws -> Mail {
        try sample(.passwordReset, name: name, language: language)
    }

    /// Returns a confirmation email.
    func sampleChanged(name: String = "Ana", language: Language = .spanish) throws -> Mail {
        try sample(.passwordChanged, name: name, language: language)
    }
}

/// Returns the visible text of a page: the text between the tags of its body, with entities replaced and spaces collapsed.
func visibleText(_ html: String) -> String {
    let body = html.firstRange(of: "<body").map { html[$0.lowerBound...] } ?? html[...]
    return body.replacing(/<\/?(?:span|bdi)[^>]*>/, with: "").replacing(/<[^>]*>/, with: " ")
        .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"").replacing("&#39;", with: "'")
        .replacing("&amp;", with: "&")
        .split(whereSeparator: \.isWhitespace).joined(separator: " ")
}

/// Returns whether texts occur in this order without overlapping.
func inOrder(_ texts: [String], in whole: String) -> Bool {
    var rest = whole[...]
    for text in texts {
        guard let range = rest.firstRange(of: text) else { return false }
        rest = rest[range.upperBound...]
    }
    return true
}
