import AccountContract
import ErrorContract
import Foundation
import Testing

@testable import Pages

/// The pages of the links that verify, create, change and restore accounts, without a server.
@Suite struct AccountPageTests {
    private static let token = "AbC-_123"
    private static let outcomes: [AccountPage.Outcome] = [
        .verified, .verifiedWithNewPassword, .activated, .emailConfirmed, .accountKept,
    ]

    private func templates(base: String? = nil, scheme: String? = "crowns", app: String = "Crowns") throws -> PageTemplates {
        try PageTemplates(
            settings: .init(appName: app, linkBase: base.flatMap { URL(string: $0) }, appScheme: scheme, minimumPasswordLength: 8)
        )
    }

    private func html(
        _ page: AccountPage,
        _ language: Language = .english,
        base: String? = nil,
        scheme: String? = "crowns",
        app: String = "Crowns"
    ) throws -> String {
        try templates(base: base, scheme: scheme, app: app).html(RecoveryPage(.account(page), language: language), nonce: "n0nce")
    }

    /// Returns the form of a change.
    private func form(_ change: AccountPage.Change, _ problem: AccountPage.Problem? = nil) throws
        -> AccountPage
    {
        .form(change, token: try ResetToken(Self.token), address: try EmailAddress("ana@example.com"), problem: problem)
    }

    /// Returns all pages of a change.
    private func pages(_ change: AccountPage.Change) throws -> [AccountPage] {
        [try form(change), .undecided(change), .deadLink(change), .invalidLink(change)]
    }

    @Test("All texts exist in all languages")
    func languages() throws {
        let forms = AccountPage.Change.allCases.map(\.texts) + [PageTexts.chooseInstead]
        let outcomes = Self.outcomes + [.emailRestored(try EmailAddress("ana@example.com"))]
        let texts =
            forms.flatMap { [$0.heading, $0.lead, $0.submit, $0.expired] } + outcomes.map(\.text)
            + [PageTexts.linkUsed, PageTexts.linkIncomplete, ContractText.currentPassword]
        for text in texts { #expect(text.languages == Set(Language.supported), "\(text.text(in: .english))") }
    }

    @Test("Each form describes its change in the user's language", arguments: AccountPage.Change.allCases, Language.supported)
    func description(_ change: AccountPage.Change, language: Language) throws {
        let html = try html(form(change), language)
        let texts = change.texts
        #expect(html.contains("<title>\(texts.heading.text(in: language)) - Crowns</title>"))
        let shown = visibleText(html)
        let order =
            [texts.heading, texts.lead].map { $0.text(in: language) } + ["ana@example.com", texts.submit.text(in: language)]
        // The visible text has ordinary spaces in place of those that don't break.
        let isInOrder = inOrder(order.map { $0.replacing("\u{A0}", with: " ") }, in: shown)
        #expect(isInOrder, "\(shown.prefix(500))")
        #expect(html.contains(language.isRightToLeft ? #"<html lang="he" dir="rtl">"# : #"<html lang="\#(language)">"#))
    }

    @Test(
        "Each page has one shown main heading, small size and no unfilled placeholder",
        arguments: AccountPage.Change.allCases,
        Language.supported
    )
    func structure(_ change: AccountPage.Change, language: Language) throws {
        for page in try pages(change) {
            let html = try html(page, language)
            #expect(html.utf8.count <= 30_000)
            let shown = html.replacing(/<section[^>]* hidden>.*?<\/section>/.dotMatchesNewlines(), with: "")
            #expect(shown.matches(of: /<h1>/).count == 1)
            let body = html.replacing(/<(?:style|script) [^>]*>.*?<\/(?:style|script)>/.dotMatchesNewlines(), with: "")
            #expect(!body.contains("{") && !body.contains("}") && !body.contains("Optional("))
            let ids = body.matches(of: /\sid="([^"]+)"/).map { String($0.1) }
            #expect(Set(ids).count == ids.count)
            #expect(html.matches(of: /<(?:script|link|img|iframe)[^>]*(?:src|href)=/).isEmpty)
        }
    }

    @Test(
        "Each page has its status",
        arguments: AccountPage.Change.allCases
    )
    func status(_ change: AccountPage.Change) throws {
        let problem = AccountPage.Problem(ContractText.fieldsEmpty, isOfNewPassword: true)
        let rows: [(AccountPage, Int)] = [
            (try form(change), 200), (try form(change, problem), 400), (.undecided(change), 200), (.deadLink(change), 410),
            (.invalidLink(change), 400), (.done(.verified), 200),
        ]
        for (page, status) in rows { #expect(RecoveryPage(.account(page), language: .english).status == status) }
    }

    @Test(
        "Each form posts the token to the path of its change, below the configured path",
        arguments: [
            (AccountPage.Change.verifyEmail, ["/app/verify-email", "/app/verify-email/password"]),
            (.activate, ["/app/activate"]), (.confirmEmail, ["/app/confirm-email"]), (.undoEmail, ["/app/undo-email"]),
            (.keepAccount, ["/app/keep-account"]),
        ]
    )
    func actions(_ change: AccountPage.Change, paths: [String]) throws {
        let html = try html(form(change), base: "https://example.com/app/reset-password")
        let actions = html.matches(of: /<form id="[a-z]+-form" method="post" action="([^"]+)"/).map { String($0.1) }
        #expect(actions == paths)
        #expect(
            html.matches(of: /<input type="hidden" name="token" value="([^"]*)">/).map { String($0.1) }
                == paths.map { _ in Self.token }
        )
        let app = "crowns://\(change.purpose.page)?token=\(Self.token)&amp;email=ana%40example.com"
        #expect(html.contains("<a id=\"open-app\" href=\"\(app)\""))
    }

    @Test("Without a token or a scheme, the link to the app is hidden", arguments: AccountPage.Change.allCases)
    func hiddenOpener(_ change: AccountPage.Change) throws {
        for html in [try html(.undecided(change)), try html(form(change), scheme: nil)] {
            let link = try #require(html.firstMatch(of: /<a id="open-app"[^>]*>/)).0
            #expect(link.hasSuffix(" hidden>"))
        }
        let undecided = try html(.undecided(change))
        #expect(undecided.matches(of: /<form\s/).count == undecided.matches(of: /<section id="[a-z]+" hidden>/).count)
        #expect(undecided.contains("<noscript>"))
    }

    @Test("Shows a problem at its field and announces it", arguments: [true, false])
    func problems(isOfNewPassword: Bool) throws {
        let problem = AccountPage.Problem(ContractText.passwordsDiffer, isOfNewPassword: isOfNewPassword)
        let html = try html(form(.verifyEmail, problem))
        let (current, new) = (
            try #require(html.firstMatch(of: /<input id="current_password"[^>]*>/)).0,
            try #require(html.firstMatch(of: /<input id="new_password"[^>]*>/)).0
        )
        #expect(current.contains("aria-invalid=\"true\"") == !isOfNewPassword)
        #expect(new.contains("aria-invalid=\"true\"") == isOfNewPassword)
        #expect(current.contains(" autofocus") == !isOfNewPassword)
        #expect(new.contains(" autofocus") == isOfNewPassword)
        let id = isOfNewPassword ? "problem" : "confirm-problem"
        #expect(html.contains("<p id=\"\(id)\" class=\"problem\" role=\"alert\">The passwords do not match</p>"))
    }

    @Test("Escapes the app's name", arguments: AccountPage.Change.allCases)
    func escaping(_ change: AccountPage.Change) throws {
        let attack = "\"><script>alert(1)</script>{{token}}"
        let harmless = try html(form(change))
        let html = try html(form(change), app: attack)
        #expect(!html.contains("<script>alert"))
        let names = { (html: String) in html.matches(of: /<\/?[a-z0-9]+/).map { String($0.output) } }
        #expect(names(html) == names(harmless))
        #expect(visibleText(html).contains(attack))
    }

    @Test("After a restored address the page offers a reset link for it")
    func restored() throws {
        let html = try html(.done(.emailRestored(try EmailAddress("ana@example.com"))), base: "https://example.com/app")
        #expect(html.contains("<form method=\"post\" action=\"/app/reset-password/request\">"))
        #expect(html.contains("value=\"ana@example.com\""))
        for outcome in Self.outcomes { #expect(try !self.html(.done(outcome)).contains("<form")) }
    }

    @Test("No page may connect to a server", arguments: AccountPage.Change.allCases)
    func policy(_ change: AccountPage.Change) throws {
        for page in try pages(change) {
            let policy = PageTemplates.policy(of: RecoveryPage(.account(page), language: .english), nonce: "n0nce")
            #expect(
                !policy.contains("connect-src") && policy.contains("default-src 'none'") && policy.contains("form-action 'self'")
            )
            #expect(try html(page).contains("<script nonce=\"n0nce\">"))
            #expect(try !html(page).contains("data-validate"))
        }
    }
}
